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
    private readonly PooledDbDataSource _source;
    private readonly DbCommand _native;
    private Execution _execution;

    /// <summary>The text that was looked at last, and what it may leave: one that is executed again is not read again.</summary>
    private string? _readText;
    private SessionTraces _traces;

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

    /// <summary>The list of its connection's commands.</summary>
    internal PooledDbCommand? NextListed { get; set; }

    internal PooledDbCommand? PreviousListed { get; set; }

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

    SessionTraces IExecutable.FindTraces(DbAdapter adapter)
    {
        string text = _native.CommandText;
        if (!ReferenceEquals(text, _readText))
        {
            (_readText, _traces) = (text, adapter.FindTraces(text));
        }

        return _traces;
    }

    void IExecutable.CancelNative() => _native.Cancel();

    DbDataReader IExecutable.ReadNative(CommandBehavior behavior) => _native.ExecuteReader(behavior);

    Task<DbDataReader> IExecutable.ReadNativeAsync(CommandBehavior behavior, CancellationToken cancellationToken) =>
        _native.ExecuteReaderAsync(behavior, cancellationToken);

    public override int ExecuteNonQuery()
    {
        DbSession? session = Begin();
        try
        {
            return _native.ExecuteNonQuery();
        }
        catch (Exception e) when (_execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            _execution.End(session);
        }
    }

    public override object? ExecuteScalar()
    {
        DbSession? session = Begin();
        try
        {
            return _native.ExecuteScalar();
        }
        catch (Exception e) when (_execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            _execution.End(session);
        }
    }

    /// <summary>Does nothing behind a pooler that gives each transaction another connection of the server.</summary>
    public override void Prepare()
    {
        if (!_source.Prepares)
        {
            return;
        }

        DbSession? session = Begin();
        try
        {
            session?.HasPrepared = true;
            _native.Prepare();
        }
        catch (Exception e) when (_execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            _execution.End(session);
        }
    }

    public override async Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken)
    {
        DbSession? session = Begin();
        try
        {
            return await _native.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (_execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            _execution.End(session);
        }
    }

    public override async Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken)
    {
        DbSession? session = Begin();
        try
        {
            return await _native.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (_execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            _execution.End(session);
        }
    }

    public override async Task PrepareAsync(CancellationToken cancellationToken = default)
    {
        if (!_source.Prepares)
        {
            return;
        }

        DbSession? session = Begin();
        try
        {
            session?.HasPrepared = true;
            await _native.PrepareAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (_execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            _execution.End(session);
        }
    }

    public override async ValueTask DisposeAsync()
    {
        Unlist(_execution.Connection);
        await _native.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>The session goes back: the provider's connection must not list it any more.</summary>
    internal void EndWithSession()
    {
        NextListed = PreviousListed = null;
        _isListed = false;
        _native.Dispose();
        _native.Connection = null; // a later disposal or use would change the list of that connection, which serves another renter by then
    }

    protected override DbParameter CreateDbParameter() => _native.CreateParameter();

    protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior)
    {
        List();
        return Execution.Read(this, behavior);
    }

    protected override Task<DbDataReader> ExecuteDbDataReaderAsync(CommandBehavior behavior, CancellationToken cancellationToken)
    {
        List();
        return Execution.ReadAsync(this, behavior, cancellationToken);
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            Unlist(_execution.Connection);
            _native.Dispose();
        }
    }

    private DbSession? Begin()
    {
        List();
        return _execution.Begin(this);
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
