using System.Collections;
using System.Collections.ObjectModel;
using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// A provider that notes each call that would reach a server, and through which door it came. Its asynchronous calls are never complete
/// when they return. One call of a run can be made to fail, and one to wait for its answer.
/// </summary>
internal sealed class TwoDoorProvider : DbProviderFactory
{
    private const string Async = " async";

    private readonly Lock _lock = new();
    private readonly List<string> _calls = [];
    private readonly TaskCompletionSource _waiting = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _open;

    /// <summary>Which call fails, counted from 1; 0 for none.</summary>
    internal int FailAt { get; init; }

    /// <summary>The SQLSTATE of the call that fails.</summary>
    internal string SqlState { get; init; } = "";

    /// <summary>Openings end well, and leave the connection closed.</summary>
    internal bool OpensNothing { get; init; }

    /// <summary>Disposing a connection throws.</summary>
    internal bool CannotDispose { get; init; }

    /// <summary>Which call waits until <see cref="Answer"/>; null for none.</summary>
    internal string? WaitIn { get; init; }

    /// <summary>Ends when that call waits.</summary>
    internal Task Waiting => _waiting.Task;

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

    /// <summary>Lets the call that waits go on.</summary>
    internal void Answer() => _answer.TrySetResult();

    private T Do<T>(string name, T value)
    {
        WaitFor(name).Wait(Sql.Limit);
        lock (_lock)
        {
            _calls.Add(name);
            return _calls.Count == FailAt ? throw new Failure(name.Replace(Async, "", StringComparison.Ordinal), SqlState) : value;
        }
    }

    private async Task<T> DoAsync<T>(string name, T value, CancellationToken cancellationToken = default)
    {
        await Task.Yield();
        await WaitFor(name);
        cancellationToken.ThrowIfCancellationRequested();
        return Do(name + Async, value);
    }

    /// <summary>A call for a value, which has one door.</summary>
    private T Give<T>(T value, [CallerMemberName] string name = "")
    {
        WaitFor(name).Wait(Sql.Limit);
        return value;
    }

    private Task WaitFor(string name)
    {
        if (name != WaitIn)
        {
            return Task.CompletedTask;
        }

        _waiting.TrySetResult();
        return _answer.Task;
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
    private sealed class Reader(TwoDoorProvider provider) : DbDataReader, IDbColumnSchemaGenerator
    {
        private int _rows = 2;
        private bool _isClosed;

        public override int Depth => 0;

        public override int FieldCount => 1;

        public override bool HasRows => true;

        public override bool IsClosed => _isClosed;

        public override int RecordsAffected => 5;

        public override object this[int ordinal] => provider.Give("");

        public override object this[string name] => provider.Give("");

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

        public override string GetString(int ordinal) => provider.Give($"name{_rows}");

        public override object GetValue(int ordinal) => provider.Give($"name{_rows}");

        public override string GetDataTypeName(int ordinal) => "text";

        public override Type GetFieldType(int ordinal) => typeof(string);

        public override int GetOrdinal(string name) => 0;

        public override bool IsDBNull(int ordinal) => provider.Give(false);

        public override int GetValues(object[] values) => provider.Give(0);

        public override bool GetBoolean(int ordinal) => provider.Give(default(bool));

        public override byte GetByte(int ordinal) => provider.Give(default(byte));

        public override long GetBytes(int ordinal, long dataOffset, byte[]? buffer, int bufferOffset, int length) =>
            provider.Give(0L);

        public override char GetChar(int ordinal) => provider.Give(default(char));

        public override long GetChars(int ordinal, long dataOffset, char[]? buffer, int bufferOffset, int length) =>
            provider.Give(0L);

        public override DateTime GetDateTime(int ordinal) => provider.Give(default(DateTime));

        public override decimal GetDecimal(int ordinal) => provider.Give(default(decimal));

        public override double GetDouble(int ordinal) => provider.Give(default(double));

        public override float GetFloat(int ordinal) => provider.Give(default(float));

        public override Guid GetGuid(int ordinal) => provider.Give(default(Guid));

        public override short GetInt16(int ordinal) => provider.Give(default(short));

        public override int GetInt32(int ordinal) => provider.Give(default(int));

        public override long GetInt64(int ordinal) => provider.Give(default(long));

        /// <summary>A stream and a text by their own calls, as providers give them.</summary>
        public override T GetFieldValue<T>(int ordinal) =>
            typeof(T) == typeof(Stream) ? (T)(object)GetStream(ordinal)
            : typeof(T) == typeof(TextReader) ? (T)(object)GetTextReader(ordinal)
            : base.GetFieldValue<T>(ordinal);

        public override Stream GetStream(int ordinal) => provider.Give(Stream.Null);

        public override TextReader GetTextReader(int ordinal) => provider.Give(TextReader.Null);

        public override object GetProviderSpecificValue(int ordinal) => provider.Give("");

        public override int GetProviderSpecificValues(object[] values) => provider.Give(0);

        public override DataTable GetSchemaTable() => provider.Give(new DataTable("t"));

        public ReadOnlyCollection<DbColumn> GetColumnSchema() => provider.Give(ReadOnlyCollection<DbColumn>.Empty);

        public override IEnumerator GetEnumerator() => throw new NotSupportedException();

        protected override DbDataReader GetDbDataReader(int ordinal) => provider.Give(this);

        protected override void Dispose(bool disposing)
        {
            if (disposing && !_isClosed)
            {
                Close();
            }
        }
    }
}
