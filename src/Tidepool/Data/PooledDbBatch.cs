using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// A batch of a pooled connection: the provider's batch, pointed at the session that the connection has in the moment of use.
/// </summary>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal sealed class PooledDbBatch : DbBatch, IExecutable
{
    private readonly DbBatch _native;
    private readonly bool _prepares;
    private Execution _execution;

    internal PooledDbBatch(PooledDbDataSource source, PooledDbConnection? connection)
    {
        _native = connection is null
            ? source.NativeFactory?.CreateBatch() ?? throw new NotSupportedException($"The provider of '{source.Name}' has no batches.")
            : source.Adapter.CreateBatch(connection.Native, source.NativeFactory);
        _execution = new Execution(source, connection);
        _prepares = source.Prepares;
    }

    public override int Timeout
    {
        get
        {
            _execution.Point(this);
            return _native.Timeout;
        }

        set => _native.Timeout = value;
    }

    protected override DbBatchCommandCollection DbBatchCommands => _native.BatchCommands;

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
        set => _execution.Connect(this, Execution.Check(value, "batch"));
    }

    protected override DbTransaction? DbTransaction
    {
        get => _execution.TransactionOf(this);
        set => _execution.Join(this, value);
    }

    /// <summary>Cancels what this batch has under way, and nothing else.</summary>
    public override void Cancel() => _execution.Cancel(this);

    SessionTraces IExecutable.FindTraces(DbAdapter adapter)
    {
        SessionTraces traces = SessionTraces.Nothing;
        foreach (DbBatchCommand command in _native.BatchCommands)
        {
            SessionTraces found = adapter.FindTraces(command.CommandText);
            traces = found > traces ? found : traces;
        }

        return traces;
    }

    void IExecutable.CancelNative() => _native.Cancel();

    DbDataReader IExecutable.ReadNative(CommandBehavior behavior) => _native.ExecuteReader(behavior);

    Task<DbDataReader> IExecutable.ReadNativeAsync(CommandBehavior behavior, CancellationToken cancellationToken) =>
        _native.ExecuteReaderAsync(behavior, cancellationToken);

    public override int ExecuteNonQuery() => Run(static native => native.ExecuteNonQuery());

    public override object? ExecuteScalar() => Run(static native => native.ExecuteScalar());

    public override Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken = default) =>
        RunAsync(native => native.ExecuteNonQueryAsync(cancellationToken));

    public override Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken = default) =>
        RunAsync(native => native.ExecuteScalarAsync(cancellationToken));

    /// <summary>Does nothing behind a pooler that gives each transaction another connection of the server.</summary>
    public override void Prepare()
    {
        if (_prepares)
        {
            Run(
                static native =>
                {
                    native.Prepare();
                    return 0;
                },
                prepares: true);
        }
    }

    public override Task PrepareAsync(CancellationToken cancellationToken = default) => !_prepares ? Task.CompletedTask : RunAsync(
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

    protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior) => Execution.Read(this, behavior);

    protected override Task<DbDataReader> ExecuteDbDataReaderAsync(CommandBehavior behavior, CancellationToken cancellationToken) =>
        Execution.ReadAsync(this, behavior, cancellationToken);

    private T Run<T>(Func<DbBatch, T> work, bool prepares = false)
    {
        DbSession? session = _execution.Begin(this);
        try
        {
            session?.HasPrepared |= prepares;
            return work(_native);
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

    private async Task<T> RunAsync<T>(Func<DbBatch, Task<T>> work, bool prepares = false)
    {
        DbSession? session = _execution.Begin(this);
        try
        {
            session?.HasPrepared |= prepares;
            return await work(_native).ConfigureAwait(false);
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
}
