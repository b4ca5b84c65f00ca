using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data.Tests.Support;

/// <summary>A provider whose connections have several transactions at a time, and nothing else.</summary>
internal sealed class ParallelProvider : DbProviderFactory
{
    /// <summary>How the transactions ended.</summary>
    internal List<string> Told { get; } = [];

    public override DbConnection CreateConnection() => new Connection(this);

    private sealed class Connection(ParallelProvider provider) : DbConnection
    {
        private ConnectionState _state;
        private int _begun;

        [AllowNull]
        public override string ConnectionString { get; set; } = "";

        public override string Database => "";

        public override string DataSource => "";

        public override string ServerVersion => "";

        public override ConnectionState State => _state;

        internal ParallelProvider Provider => provider;

        public override void ChangeDatabase(string databaseName) => throw new NotSupportedException();

        public override void Open() => _state = ConnectionState.Open;

        public override void Close() => _state = ConnectionState.Closed;

        protected override DbTransaction BeginDbTransaction(IsolationLevel isolationLevel) => new Transaction(this, ++_begun);

        protected override DbCommand CreateDbCommand() => throw new NotSupportedException();
    }

    private sealed class Transaction(Connection connection, int number) : DbTransaction
    {
        private bool _isOver;

        public override IsolationLevel IsolationLevel => IsolationLevel.Serializable;

        protected override DbConnection DbConnection => connection;

        public override void Commit() => End("commit");

        public override void Rollback() => End("roll back");

        protected override void Dispose(bool disposing)
        {
            if (disposing && !_isOver)
            {
                Rollback();
            }

            base.Dispose(disposing);
        }

        private void End(string how)
        {
            ObjectDisposedException.ThrowIf(_isOver, this);
            _isOver = true;
            connection.Provider.Told.Add($"{how} {number}");
        }
    }
}
