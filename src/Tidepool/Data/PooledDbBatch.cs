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
    private Execution _execution;

    internal PooledDbBatch(PooledDbDataSource source, PooledDbConnection? connection)
    {
        _native = connection is null
            ? source.NativeFactory?.CreateBatch() ?? throw new NotSupportedException($"The provider of '{source.Name}' has no batches.")
            : source.Adapter.CreateBatch(connection.Native, source.NativeFactory);
        _execution = new Execution(source, connection);
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

    SessionResidue IExecutable.FindResidue(DbAdapter adapter)
    {
        SessionResidue residue = SessionResidue.Nothing;
        foreach (DbBatchCommand command in _native.BatchCommands)
        {
            SessionResidue found = adapter.FindResidue(command.CommandText);
            residue = found > residue ? found : residue;
        }

        return residue;
    }

    void IExecutable.CancelNative() => _native.Cancel();

    void IExecutable.PrepareNative() => _native.Prepare();

    Task IExecutable.PrepareNativeAsync(CancellationToken cancellationToken) => _native.PrepareAsync(cancellationToken);

    DbDataReader IExecutable.ReadNative(CommandBehavior behavior) => _native.ExecuteReader(behavior);

    Task<DbDataReader> IExecutable.ReadNativeAsync(CommandBehavior behavior, CancellationToken cancellationToken) =>
        _native.ExecuteReaderAsync(behavior, cancellationToken);

    public override int ExecuteNonQuery() => Execution.Run(this, _native, static native => native.ExecuteNonQuery());

    public override object? ExecuteScalar() => Execution.Run(this, _native, static native => native.ExecuteScalar());

    public override Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken = default) =>
        Execution.RunAsync(this, _native, static (native, token) => native.ExecuteNonQueryAsync(token), cancellationToken);

    public override Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken = default) =>
        Execution.RunAsync(this, _native, static (native, token) => native.ExecuteScalarAsync(token), cancellationToken);

    public override void Prepare() => Execution.Prepare(this);

    public override Task PrepareAsync(CancellationToken cancellationToken = default) => Execution.PrepareAsync(this, cancellationToken);

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
}
