using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// A command of a pooled connection: the provider's command, pointed at the session that the connection has in the moment of use. Text and
/// parameters are the provider's.
/// </summary>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal sealed class PooledDbCommand : DbCommand, IExecutable
{
    /// <summary>Its neighbours in the list of its connection.</summary>
    internal Links<PooledDbCommand> Links;

    private readonly PooledDbDataSource _source;
    private readonly DbCommand _native;
    private Execution _execution;

    /// <summary>The text that was looked at last, and what it may leave: one that is executed again is not read again.</summary>
    private string? _readText;
    private SessionResidue _traces;

    /// <summary>Its connection ends it when the session goes back.</summary>
    private bool _isListed;

    internal PooledDbCommand(PooledDbDataSource source, PooledDbConnection? connection)
    {
        _source = source;
        _native = connection is null
            ? source.NativeFactory?.CreateCommand() ?? source.Inner.CreateConnection().CreateCommand()
            : source.Adapter.CreateCommand(connection.Native, source.NativeFactory);
        _execution = new Execution(source, connection);
        List();
    }

    [AllowNull]
    public override string CommandText
    {
        get => _native.CommandText;
        set => _native.CommandText = value;
    }

    public override int CommandTimeout
    {
        get
        {
            List();
            _execution.Point(this);
            return _native.CommandTimeout;
        }

        set => _native.CommandTimeout = value;
    }

    public override CommandType CommandType
    {
        get => _native.CommandType;
        set => _native.CommandType = value;
    }

    public override bool DesignTimeVisible
    {
        get => _native.DesignTimeVisible;
        set => _native.DesignTimeVisible = value;
    }

    public override UpdateRowSource UpdatedRowSource
    {
        get => _native.UpdatedRowSource;
        set => _native.UpdatedRowSource = value;
    }

    ref Execution IExecutable.Execution => ref _execution;

    DbConnection? IExecutable.NativeConnection
    {
        get => _native.Connection;
        set => _native.Connection = value;
    }

    DbTransaction? IExecutable.NativeTransaction
    {
        get => _native.Transaction;
        set => _native.Transaction = value;
    }

    protected override DbConnection? DbConnection
    {
        get => _execution.Connection;
        set
        {
            PooledDbConnection? connection = Execution.Check(value, "command");
            if (!ReferenceEquals(connection, _execution.Connection))
            {
                PooledDbConnection? before = _execution.Connection;
                _execution.Connect(this, connection);
                Unlist(before);
                List();
            }
        }
    }

    protected override DbParameterCollection DbParameterCollection => _native.Parameters;

    protected override DbTransaction? DbTransaction
    {
        get => _execution.TransactionOf(this);
        set => _execution.Join(this, value);
    }

    /// <summary>Cancels what this command has under way, and nothing else.</summary>
    public override void Cancel() => _execution.Cancel(this);

    SessionResidue IExecutable.FindResidue(DbAdapter adapter)
    {
        string text = _native.CommandText;
        if (!ReferenceEquals(text, _readText))
        {
            (_readText, _traces) = (text, adapter.FindResidue(text));
        }

        return _traces;
    }

    void IExecutable.CancelNative() => _native.Cancel();

    void IExecutable.PrepareNative() => _native.Prepare();

    Task IExecutable.PrepareNativeAsync(CancellationToken cancellationToken) => _native.PrepareAsync(cancellationToken);

    DbDataReader IExecutable.ReadNative(CommandBehavior behavior) => _native.ExecuteReader(behavior);

    Task<DbDataReader> IExecutable.ReadNativeAsync(CommandBehavior behavior, CancellationToken cancellationToken) =>
        _native.ExecuteReaderAsync(behavior, cancellationToken);

    public override int ExecuteNonQuery() => Execution.Run(Listed(), _native, static native => native.ExecuteNonQuery());

    public override object? ExecuteScalar() => Execution.Run(Listed(), _native, static native => native.ExecuteScalar());

    public override Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken) =>
        Execution.RunAsync(Listed(), _native, static (native, token) => native.ExecuteNonQueryAsync(token), cancellationToken);

    public override Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken) =>
        Execution.RunAsync(Listed(), _native, static (native, token) => native.ExecuteScalarAsync(token), cancellationToken);

    public override void Prepare() => Execution.Prepare(Listed());

    public override Task PrepareAsync(CancellationToken cancellationToken = default) => Execution.PrepareAsync(Listed(), cancellationToken);

    public override async ValueTask DisposeAsync()
    {
        Unlist(_execution.Connection);
        await _native.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>The session goes back: the provider's connection must not list it any more.</summary>
    internal void EndWithSession()
    {
        _isListed = false;
        _native.Dispose();
        _native.Connection = null; // a later disposal or use would change the list of that connection, which serves another renter by then
    }

    protected override DbParameter CreateDbParameter() => _native.CreateParameter();

    protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior) => Execution.Read(Listed(), behavior);

    protected override Task<DbDataReader> ExecuteDbDataReaderAsync(CommandBehavior behavior, CancellationToken cancellationToken) =>
        Execution.ReadAsync(Listed(), behavior, cancellationToken);

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            Unlist(_execution.Connection);
            _native.Dispose();
        }
    }

    /// <summary>This command, listed: its connection ends it when the session goes back.</summary>
    private PooledDbCommand Listed()
    {
        List();
        return this;
    }

    private void List()
    {
        if (!_isListed && _source.Adapter.ListsCommands && _execution.Connection is { } connection)
        {
            _isListed = true;
            connection.Add(this);
        }
    }

    private void Unlist(PooledDbConnection? connection)
    {
        if (_isListed)
        {
            _isListed = false;
            connection!.Remove(this);
        }
    }
}

/// <summary>Links commands of one connection.</summary>
internal readonly struct CommandLinks : ILinks<PooledDbCommand>
{
    public static ref Links<PooledDbCommand> Of(PooledDbCommand command) => ref command.Links;
}
