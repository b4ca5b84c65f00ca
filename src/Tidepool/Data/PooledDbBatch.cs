using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>A batch of a pooled connection: the provider's batch, pointed at the session that the connection has in the moment of use.</summary>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal sealed class PooledDbBatch : DbBatch
{
    private readonly PooledDbDataSource _source;
    private readonly DbBatch _native;
    private PooledDbConnection? _connection;
    private PooledDbTransaction? _transaction;
    private PooledDbDataReader? _reader;
    private int _isRunning;

    internal PooledDbBatch(PooledDbDataSource source, PooledDbConnection? connection)
    {
        _source = source;
        _native = connection is null
            ? source.NativeFactory?.CreateBatch() ?? throw new NotSupportedException($"The provider of '{source.Name}' has no batches.")
            : source.Adapter.CreateBatch(connection.Native, source.NativeFactory);
        _connection = connection;
    }

    public override int Timeout
    {
        get
        {
            if (_connection is not null)
            {
                Point(_connection.Native); // the connection has the default
            }

            return _native.Timeout;
        }

        set => _native.Timeout = value;
    }

    protected override DbBatchCommandCollection DbBatchCommands => _native.BatchCommands;

    protected override DbConnection? DbConnection
    {
        get => _connection;
        set
        {
            PooledDbConnection? connection = value switch
            {
                null => null,
                PooledDbConnection pooled => pooled,
                _ => throw new InvalidCastException($"A batch of a pooled connection takes a {typeof(PooledDbConnection)}, not a {value.GetType()}."),
            };
            _native.Connection = connection?.Native;
            _connection = connection;
        }
    }

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

    /// <summary>Cancels what this batch has under way, and nothing else.</summary>
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

    public override int ExecuteNonQuery() => Run(static native => native.ExecuteNonQuery());

    public override object? ExecuteScalar() => Run(static native => native.ExecuteScalar());

    public override Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken = default) => RunAsync(native => native.ExecuteNonQueryAsync(cancellationToken));

    public override Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken = default) => RunAsync(native => native.ExecuteScalarAsync(cancellationToken));

    public override void Prepare() => Run(
        static native =>
        {
            native.Prepare();
            return 0;
        },
        prepares: true);

    public override Task PrepareAsync(CancellationToken cancellationToken = default) => RunAsync(
        async native =>
        {
            await native.PrepareAsync(cancellationToken).ConfigureAwait(false);
            return 0;
        },
        prepares: true);

    public override void Dispose()
    {
        _native.Dispose();
        base.Dispose();
    }

    public override ValueTask DisposeAsync() => _native.DisposeAsync();

    protected override DbBatchCommand CreateDbBatchCommand() => _native.CreateBatchCommand();

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

    private T Run<T>(Func<DbBatch, T> work, bool prepares = false)
    {
        DbSession? session = Begin();
        try
        {
            session?.HasPrepared |= prepares;
            return work(_native);
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

    private async Task<T> RunAsync<T>(Func<DbBatch, Task<T>> work, bool prepares = false)
    {
        DbSession? session = Begin();
        try
        {
            session?.HasPrepared |= prepares;
            return await work(_native).ConfigureAwait(false);
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

    private bool ClosesNow(CommandBehavior behavior) =>
        (behavior & CommandBehavior.CloseConnection) != 0 && _connection is not null && _source.Adapter.ClosesOnFailedRead;

    private DbDataReader Wrap(DbDataReader native, DbSession? session, CommandBehavior behavior) =>
        session is null ? native : _reader = new PooledDbDataReader(_connection!, session, native, _source.Adapter, (behavior & CommandBehavior.CloseConnection) != 0);

    private static bool Is(PooledDbTransaction? transaction, DbTransaction native) => transaction is not null && ReferenceEquals(transaction.NativeOrNull, native);

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

    private bool Note(DbSession? session, Exception error) => _connection is not null && _connection.Note(session, error);
}
