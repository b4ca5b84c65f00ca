using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// A command of a pooled connection: the provider's command, pointed at the session that the connection has in the moment of use. Text and
/// parameters are the provider's.
/// </summary>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal sealed class PooledDbCommand : DbCommand
{
    private readonly PooledDbDataSource _source;
    private readonly DbCommand _native;
    private PooledDbConnection? _connection;
    private PooledDbTransaction? _transaction;

    /// <summary>Between the beginning of an execution and the end of its reader: only then is there anything to cancel.</summary>
    private PooledDbDataReader? _reader;
    private int _isRunning;

    /// <summary>Its connection ends it when the session goes back.</summary>
    private bool _isListed;

    internal PooledDbCommand(PooledDbDataSource source, PooledDbConnection? connection)
    {
        _source = source;
        _native = connection is null
            ? source.NativeFactory?.CreateCommand() ?? source.Inner.CreateConnection().CreateCommand()
            : source.Adapter.CreateCommand(connection.Native, source.NativeFactory);
        _connection = connection;
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
            if (_connection is not null)
            {
                Point(_connection.Native); // the connection has the default
            }

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

    protected override DbConnection? DbConnection
    {
        get => _connection;
        set
        {
            PooledDbConnection? connection = value switch
            {
                null => null,
                PooledDbConnection pooled => pooled,
                _ => throw new InvalidCastException($"A command of a pooled connection takes a {typeof(PooledDbConnection)}, not a {value.GetType()}."),
            };
            if (ReferenceEquals(connection, _connection))
            {
                return;
            }

            _native.Connection = connection?.Native;
            Unlist();
            _connection = connection;
            List();
        }
    }

    protected override DbParameterCollection DbParameterCollection => _native.Parameters;

    protected override DbTransaction? DbTransaction
    {
        get => _native.Transaction is not { } native ? null
            : Is(_transaction, native) ? _transaction
            : Is(_connection?.Current, native) ? _connection!.Current
            : null;
        set
        {
            var pooled = value as PooledDbTransaction;
            _native.Transaction = pooled?.Native ?? value;
            _transaction = pooled;
        }
    }

    /// <summary>Cancels what this command has under way. Does nothing when it has nothing: the session may be somebody else's by now.</summary>
    public override void Cancel()
    {
        if (Volatile.Read(ref _isRunning) == 0 && _reader is not { IsClosed: false })
        {
            return;
        }

        DbSession? session = _connection?.Enter();
        try
        {
            if (session is not null && ReferenceEquals(_native.Connection, session.Native))
            {
                _native.Cancel();
            }
        }
        finally
        {
            _connection?.Exit(session);
        }
    }

    public override int ExecuteNonQuery()
    {
        DbSession? session = Begin();
        try
        {
            return _native.ExecuteNonQuery();
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            End(session);
        }
    }

    public override object? ExecuteScalar()
    {
        DbSession? session = Begin();
        try
        {
            return _native.ExecuteScalar();
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            End(session);
        }
    }

    public override void Prepare()
    {
        DbSession? session = Begin();
        try
        {
            session?.HasPrepared = true;
            _native.Prepare();
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            End(session);
        }
    }

    public override async Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken)
    {
        DbSession? session = Begin();
        try
        {
            return await _native.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            End(session);
        }
    }

    public override async Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken)
    {
        DbSession? session = Begin();
        try
        {
            return await _native.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            End(session);
        }
    }

    public override async Task PrepareAsync(CancellationToken cancellationToken = default)
    {
        DbSession? session = Begin();
        try
        {
            session?.HasPrepared = true;
            await _native.PrepareAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            End(session);
        }
    }

    public override async ValueTask DisposeAsync()
    {
        Unlist();
        await _native.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>The session goes back: the provider's connection must not list it any more.</summary>
    internal void EndWithSession()
    {
        NextListed = PreviousListed = null;
        _isListed = false;
        _native.Dispose();
        _native.Connection = null; // a later disposal or use would change the list of that connection, which serves somebody else by then
    }

    protected override DbParameter CreateDbParameter() => _native.CreateParameter();

    protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior)
    {
        DbSession? session = Begin();
        try
        {
            return Wrap(_native.ExecuteReader(behavior & ~CommandBehavior.CloseConnection), session, behavior);
        }
        catch (Exception e) when (Note(session, e) || ClosesNow(behavior))
        {
            (DbSession? ended, session) = (session, null);
            try
            {
                End(ended);
            }
            finally
            {
                _connection!.Close();
            }

            throw;
        }
        finally
        {
            End(session);
        }
    }

    protected override async Task<DbDataReader> ExecuteDbDataReaderAsync(CommandBehavior behavior, CancellationToken cancellationToken)
    {
        DbSession? session = Begin();
        try
        {
            DbDataReader native = await _native.ExecuteReaderAsync(behavior & ~CommandBehavior.CloseConnection, cancellationToken).ConfigureAwait(false);
            return Wrap(native, session, behavior);
        }
        catch (Exception e) when (Note(session, e) || ClosesNow(behavior))
        {
            (DbSession? ended, session) = (session, null);
            try
            {
                End(ended);
            }
            finally
            {
                await _connection!.CloseAsync().ConfigureAwait(false);
            }

            throw;
        }
        finally
        {
            End(session);
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            Unlist();
            _native.Dispose();
        }
    }

    private bool ClosesNow(CommandBehavior behavior) =>
        (behavior & CommandBehavior.CloseConnection) != 0 && _connection is not null && _source.Adapter.ClosesOnFailedRead;

    private DbDataReader Wrap(DbDataReader native, DbSession? session, CommandBehavior behavior) =>
        session is null ? native : _reader = new PooledDbDataReader(_connection!, session, native, _source.Adapter, (behavior & CommandBehavior.CloseConnection) != 0);

    private static bool Is(PooledDbTransaction? transaction, DbTransaction native) => transaction is not null && ReferenceEquals(transaction.NativeOrNull, native);

    /// <summary>Begins an execution: the session is held, and the provider's command is pointed at it.</summary>
    private DbSession? Begin()
    {
        if (_connection is null)
        {
            return null;
        }

        DbSession? session = _connection.Enter();
        try
        {
            Point(session?.Native ?? _connection.Shell);
        }
        catch
        {
            _connection.Exit(session);
            throw;
        }

        List();
        Volatile.Write(ref _isRunning, 1);
        return session;
    }

    private void End(DbSession? session)
    {
        Volatile.Write(ref _isRunning, 0);
        _connection?.Exit(session);
    }

    private void Point(DbConnection target)
    {
        if (!ReferenceEquals(_native.Connection, target))
        {
            _native.Connection = target;
        }
    }

    private void List()
    {
        if (!_isListed && _source.Adapter.ListsCommands && _connection is not null)
        {
            _isListed = true;
            _connection.Add(this);
        }
    }

    private void Unlist()
    {
        if (_isListed)
        {
            _isListed = false;
            _connection!.Remove(this);
        }
    }

    private bool Note(DbSession? session, Exception error) => _connection is not null && _connection.Note(session, error);
}
