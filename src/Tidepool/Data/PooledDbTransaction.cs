using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// A transaction of a pooled connection. It reaches the provider's one as long as the connection has the session it was begun on, and no
/// later transaction was begun: where the provider uses the object again, an old reference reaches nothing.
/// </summary>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal sealed class PooledDbTransaction : DbTransaction
{
    private readonly PooledDbConnection _connection;
    private readonly DbSession? _session;
    private readonly DbAdapter _adapter;
    private DbTransaction? _native;
    private bool _isOver;
    private bool _isDisposed;

    internal PooledDbTransaction(PooledDbConnection connection, DbSession? session, DbTransaction native, DbAdapter adapter)
    {
        _session = session;
        _connection = connection;
        _native = native;
        _adapter = adapter;
    }

    public override IsolationLevel IsolationLevel => Native.IsolationLevel;

    public override bool SupportsSavepoints => Native.SupportsSavepoints;

    /// <summary>The provider's transaction.</summary>
    /// <exception cref="ObjectDisposedException">It is over.</exception>
    internal DbTransaction Native => _native ?? throw _adapter.EndedTransaction();

    internal DbTransaction? NativeOrNull => _native;

    /// <summary>One that was begun before and is not over: some providers have several at a time.</summary>
    internal PooledDbTransaction? Before { get; set; }

    /// <summary>It was neither committed nor rolled back.</summary>
    internal bool IsOpen => !_isOver;

    protected override DbConnection? DbConnection => _native?.Connection is null ? null : _connection;

    public override void Commit() => Run(static native => native.Commit(), ends: true);

    public override void Rollback() => Run(static native => native.Rollback(), ends: true);

    public override void Save(string savepointName) => Run(native => native.Save(savepointName));

    public override void Rollback(string savepointName) => Run(native => native.Rollback(savepointName));

    public override void Release(string savepointName) => Run(native => native.Release(savepointName));

    public override Task CommitAsync(CancellationToken cancellationToken = default) =>
        RunAsync(cancellationToken, static (native, token) => native.CommitAsync(token), ends: true);

    public override Task RollbackAsync(CancellationToken cancellationToken = default) =>
        RunAsync(cancellationToken, static (native, token) => native.RollbackAsync(token), ends: true);

    public override Task SaveAsync(string savepointName, CancellationToken cancellationToken = default) =>
        RunAsync(cancellationToken, (native, token) => native.SaveAsync(savepointName, token));

    public override Task RollbackAsync(string savepointName, CancellationToken cancellationToken = default) =>
        RunAsync(cancellationToken, (native, token) => native.RollbackAsync(savepointName, token));

    public override Task ReleaseAsync(string savepointName, CancellationToken cancellationToken = default) =>
        RunAsync(cancellationToken, (native, token) => native.ReleaseAsync(savepointName, token));

    public override async ValueTask DisposeAsync()
    {
        if (!_isDisposed && _native is not null)
        {
            _isDisposed = true;
            await RunAsync(CancellationToken.None, static (native, _) => native.DisposeAsync().AsTask(), ends: true).ConfigureAwait(false);
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing && !_isDisposed && _native is not null)
        {
            _isDisposed = true;
            Run(static native => native.Dispose(), ends: true);
        }
    }

    /// <summary>Its session, or its turn, is over.</summary>
    internal void Cut()
    {
        _isOver = true;
        if (_adapter.RecyclesObjects)
        {
            _native = null;
        }
    }

    /// <summary>
    /// The provider's transaction, for an operation that has begun: another thread may have taken its session away meanwhile.
    /// </summary>
    private DbTransaction Reach(DbSession? session) =>
        _adapter.RecyclesObjects && !ReferenceEquals(session, _session) ? throw _adapter.EndedTransaction() : Native;

    private void Run(Action<DbTransaction> work, bool ends = false) => new ValueTask(RunAsync(
        work,
        static (native, work) =>
        {
            work(native);
            return Task.CompletedTask;
        },
        ends)).EnsureCompleted();

    private async Task RunAsync<TArgument>(TArgument argument, Func<DbTransaction, TArgument, Task> work, bool ends = false)
    {
        DbSession? session = _connection.Enter();
        try
        {
            await work(Reach(session), argument).ConfigureAwait(false);
            _isOver |= ends;
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            _connection.Exit(session);
        }
    }
}
