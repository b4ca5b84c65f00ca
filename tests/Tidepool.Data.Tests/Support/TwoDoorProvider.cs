using System.Collections;
using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// A provider that notes each call that would reach a server, and through which door it came. Its asynchronous calls are never complete
/// when they return. One call of a run can be made to fail.
/// </summary>
internal sealed class TwoDoorProvider : DbProviderFactory
{
    private const string Async = " async";

    private readonly Lock _lock = new();
    private readonly List<string> _calls = [];
    private int _open;

    /// <summary>Which call fails, counted from 1; 0 for none.</summary>
    internal int FailAt { get; init; }

    /// <summary>The SQLSTATE of the call that fails.</summary>
    internal string SqlState { get; init; } = "";

    /// <summary>Openings end well, and leave the connection closed.</summary>
    internal bool OpensNothing { get; init; }

    /// <summary>Disposing a connection throws.</summary>
    internal bool CannotDispose { get; init; }

    /// <summary>Connections that are open.</summary>
    internal int Open => _open;

    /// <summary>The calls, with " async" behind those that came through that door.</summary>
    internal List<string> Calls
    {
        get
        {
            lock (_lock)
            {
                return [.. _calls];
            }
        }
    }

    /// <summary>The names of the calls, whatever their door.</summary>
    internal List<string> Names => [.. Calls.Select(static call => call.Replace(Async, "", StringComparison.Ordinal))];

    /// <summary>How many calls came through the asynchronous door.</summary>
    internal int AsyncCalls => Calls.Count(static call => call.EndsWith(Async, StringComparison.Ordinal));

    public override DbConnection CreateConnection() => new Connection(this);

    public override DbCommand CreateCommand() => new Command(this);

    private T Do<T>(string name, T value)
    {
        lock (_lock)
        {
            _calls.Add(name);
            return _calls.Count == FailAt ? throw new Failure(name.Replace(Async, "", StringComparison.Ordinal), SqlState) : value;
        }
    }

    private async Task<T> DoAsync<T>(string name, T value, CancellationToken cancellationToken = default)
    {
        await Task.Yield();
        cancellationToken.ThrowIfCancellationRequested();
        return Do(name + Async, value);
    }

    internal sealed class Failure(string call, string sqlState) : DbException($"{call} failed")
    {
        public override string SqlState => sqlState;
    }

    private sealed class Connection(TwoDoorProvider provider) : DbConnection
    {
        private ConnectionState _state;

        [AllowNull]
        public override string ConnectionString { get; set; } = "";

        public override string Database => "";

        public override string DataSource => "";

        public override string ServerVersion => "";

        public override ConnectionState State => _state;

        public override void ChangeDatabase(string databaseName) => throw new NotSupportedException();

        public override void Open()
        {
            BeOpen(provider.Do("open", true));
        }

        public override async Task OpenAsync(CancellationToken cancellationToken)
        {
            BeOpen(await provider.DoAsync("open", true, cancellationToken));
        }

        private void BeOpen(bool isOpen)
        {
            if (isOpen && !provider.OpensNothing)
            {
                _state = ConnectionState.Open;
                Interlocked.Increment(ref provider._open);
            }
        }

        public override void Close()
        {
            if (_state == ConnectionState.Open)
            {
                _state = ConnectionState.Closed;
                Interlocked.Decrement(ref provider._open);
            }
        }

        public override DataTable GetSchema() => provider.Do("schema", new DataTable("t"));

        public override Task<DataTable> GetSchemaAsync(CancellationToken cancellationToken = default) =>
            provider.DoAsync("schema", new DataTable("t"), cancellationToken);

        protected override DbTransaction BeginDbTransaction(IsolationLevel isolationLevel) =>
            provider.Do("begin", new Transaction(provider, this));

        protected override async ValueTask<DbTransaction> BeginDbTransactionAsync(
            IsolationLevel isolationLevel, CancellationToken cancellationToken) =>
            await provider.DoAsync("begin", new Transaction(provider, this), cancellationToken);

        protected override DbCommand CreateDbCommand() => new Command(provider) { Connection = this };

        protected override void Dispose(bool disposing)
        {
            Close();
            base.Dispose(disposing);
            if (disposing && provider.CannotDispose)
            {
                throw new InvalidOperationException("It cannot be disposed.");
            }
        }
    }

    [SuppressMessage("Usage", "CA2215", Justification = "The base class would call the other door.")]
    private sealed class Transaction(TwoDoorProvider provider, Connection connection) : DbTransaction
    {
        public override IsolationLevel IsolationLevel => IsolationLevel.Serializable;

        public override bool SupportsSavepoints => true;

        protected override DbConnection DbConnection => connection;

        public override void Commit() => provider.Do("commit", 0);

        public override Task CommitAsync(CancellationToken cancellationToken = default) => provider.DoAsync("commit", 0, cancellationToken);

        public override void Rollback() => provider.Do("roll back", 0);

        public override Task RollbackAsync(CancellationToken cancellationToken = default) =>
            provider.DoAsync("roll back", 0, cancellationToken);

        public override void Save(string savepointName) => provider.Do("save", 0);

        public override Task SaveAsync(string savepointName, CancellationToken cancellationToken = default) =>
            provider.DoAsync("save", 0, cancellationToken);

        public override void Rollback(string savepointName) => provider.Do("roll back to", 0);

        public override Task RollbackAsync(string savepointName, CancellationToken cancellationToken = default) =>
            provider.DoAsync("roll back to", 0, cancellationToken);

        public override void Release(string savepointName) => provider.Do("release", 0);

        public override Task ReleaseAsync(string savepointName, CancellationToken cancellationToken = default) =>
            provider.DoAsync("release", 0, cancellationToken);

        public override async ValueTask DisposeAsync() => await provider.DoAsync("dispose transaction", 0);

        protected override void Dispose(bool disposing) => provider.Do("dispose transaction", 0);
    }

    private sealed class Command(TwoDoorProvider provider) : DbCommand
    {
        [AllowNull]
        public override string CommandText { get; set; } = "";

        public override int CommandTimeout { get; set; }

        public override CommandType CommandType { get; set; }

        public override bool DesignTimeVisible { get; set; }

        public override UpdateRowSource UpdatedRowSource { get; set; }

        protected override DbConnection? DbConnection { get; set; }

        protected override DbParameterCollection DbParameterCollection => throw new NotSupportedException();

        protected override DbTransaction? DbTransaction { get; set; }

        public override void Cancel()
        {
        }

        public override int ExecuteNonQuery() => provider.Do($"execute {CommandText}", 3);

        public override Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken) =>
            provider.DoAsync($"execute {CommandText}", 3, cancellationToken);

        public override object? ExecuteScalar() => provider.Do($"scalar {CommandText}", 4);

        public override async Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken) =>
            await provider.DoAsync($"scalar {CommandText}", 4, cancellationToken);

        public override void Prepare() => provider.Do($"prepare {CommandText}", 0);

        public override Task PrepareAsync(CancellationToken cancellationToken = default) =>
            provider.DoAsync($"prepare {CommandText}", 0, cancellationToken);

        protected override DbParameter CreateDbParameter() => throw new NotSupportedException();

        protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior) =>
            provider.Do($"read {CommandText}", new Reader(provider));

        protected override async Task<DbDataReader> ExecuteDbDataReaderAsync(
            CommandBehavior behavior, CancellationToken cancellationToken) =>
            await provider.DoAsync($"read {CommandText}", new Reader(provider), cancellationToken);
    }

    /// <summary>Two rows of one text, in a column with the name in which the adapter of PostgreSQL looks for prepared statements.</summary>
    [SuppressMessage("Usage", "CA2215", Justification = "The base class would call the other door.")]
    private sealed class Reader(TwoDoorProvider provider) : DbDataReader
    {
        private int _rows = 2;
        private bool _isClosed;

        public override int Depth => 0;

        public override int FieldCount => 1;

        public override bool HasRows => true;

        public override bool IsClosed => _isClosed;

        public override int RecordsAffected => 5;

        public override object this[int ordinal] => GetString(ordinal);

        public override object this[string name] => GetString(0);

        public override bool Read() => provider.Do("row", --_rows >= 0);

        public override Task<bool> ReadAsync(CancellationToken cancellationToken) =>
            provider.DoAsync("row", --_rows >= 0, cancellationToken);

        public override bool NextResult() => provider.Do("next result", false);

        public override Task<bool> NextResultAsync(CancellationToken cancellationToken) =>
            provider.DoAsync("next result", false, cancellationToken);

        public override void Close() => _isClosed |= provider.Do("close reader", true);

        public override async Task CloseAsync() => _isClosed |= await provider.DoAsync("close reader", true);

        public override async ValueTask DisposeAsync()
        {
            if (!_isClosed)
            {
                await CloseAsync();
            }
        }

        public override string GetName(int ordinal) => "quote_ident";

        public override string GetString(int ordinal) => $"name{_rows}";

        public override object GetValue(int ordinal) => GetString(ordinal);

        public override string GetDataTypeName(int ordinal) => "text";

        public override Type GetFieldType(int ordinal) => typeof(string);

        public override int GetOrdinal(string name) => 0;

        public override bool IsDBNull(int ordinal) => false;

        public override int GetValues(object[] values) => throw new NotSupportedException();

        public override bool GetBoolean(int ordinal) => throw new NotSupportedException();

        public override byte GetByte(int ordinal) => throw new NotSupportedException();

        public override long GetBytes(int ordinal, long dataOffset, byte[]? buffer, int bufferOffset, int length) =>
            throw new NotSupportedException();

        public override char GetChar(int ordinal) => throw new NotSupportedException();

        public override long GetChars(int ordinal, long dataOffset, char[]? buffer, int bufferOffset, int length) =>
            throw new NotSupportedException();

        public override DateTime GetDateTime(int ordinal) => throw new NotSupportedException();

        public override decimal GetDecimal(int ordinal) => throw new NotSupportedException();

        public override double GetDouble(int ordinal) => throw new NotSupportedException();

        public override float GetFloat(int ordinal) => throw new NotSupportedException();

        public override Guid GetGuid(int ordinal) => throw new NotSupportedException();

        public override short GetInt16(int ordinal) => throw new NotSupportedException();

        public override int GetInt32(int ordinal) => throw new NotSupportedException();

        public override long GetInt64(int ordinal) => throw new NotSupportedException();

        public override IEnumerator GetEnumerator() => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
            if (disposing && !_isClosed)
            {
                Close();
            }
        }
    }
}
