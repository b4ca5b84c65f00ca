using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using System.Transactions;
using IsolationLevel = System.Data.IsolationLevel;

namespace Tidepool.Data;

/// <summary>
/// A connection of a <see cref="PooledDbDataSource"/>. Opening it rents a session, closing it gives the session back; what happens in
/// between behaves as the provider's connection does: results, errors, events.
/// </summary>
/// <remarks>
/// For one thread at a time, as every connection. It may be opened and closed again and again. Closing twice does nothing. Nothing that
/// was made by it (commands, readers, transactions) reaches a session that it has given back; a session that is busy in the moment in
/// which another thread closes it is not used again.
/// </remarks>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
public sealed partial class PooledDbConnection : DbConnection
{
    private static readonly StateChangeEventArgs Opened = new(ConnectionState.Closed, ConnectionState.Open);
    private static readonly StateChangeEventArgs Connecting = new(ConnectionState.Closed, ConnectionState.Connecting);
    private static readonly StateChangeEventArgs Connected = new(ConnectionState.Connecting, ConnectionState.Open);
    private static readonly StateChangeEventArgs NotConnected = new(ConnectionState.Connecting, ConnectionState.Closed);
    private static readonly StateChangeEventArgs Broken = new(ConnectionState.Open, ConnectionState.Broken);
    private static readonly StateChangeEventArgs ClosedBroken = new(ConnectionState.Broken, ConnectionState.Closed);
    private static readonly StateChangeEventArgs Closed = new(ConnectionState.Open, ConnectionState.Closed);

    private readonly PooledDbDataSource _source;
    private DbSession? _session;
    private ResourceLease<DbSession> _lease;
    private PooledDbDataReader? _readers;
    private PooledDbTransaction? _transaction;

    /// <summary>Commands that the provider's connection lists too: their use ends with that of the session.</summary>
    private IntrusiveList<PooledDbCommand, CommandLinks> _commands;

    /// <summary>Streams and texts of columns that a reader has given out, where they reach the session by themselves.</summary>
    private HashSet<IDisposable>? _columns;
    private DbConnection? _closedConnection;
    private Transaction? _enlisted;

    /// <summary>
    /// Operations under way on the session. Counted before the session is read, and read after the session was taken away.
    /// </summary>
    private int _running;
    private int _isOpening;

    /// <summary>The session was taken away and is not given back yet: meanwhile no other one is rented.</summary>
    private int _isClosing;
    private bool _isDisposed;

    /// <summary>Listeners know already that the session was closed, by an error.</summary>
    private bool _hasNotifiedClosed;

    /// <summary>Listeners know that the session is broken, and will hear that it is closed too.</summary>
    private bool _hasNotifiedBroken;

    internal PooledDbConnection(PooledDbDataSource source) => _source = source;

    internal PooledDbConnection(PooledDbDataSource source, ResourceLease<DbSession> lease)
    {
        _source = source;
        _lease = lease;
        _session = lease.Slot!.Resource!;
    }

    /// <summary>The connection string, without passwords. It belongs to the data source: setting another one throws.</summary>
    /// <exception cref="NotSupportedException">Another connection string was set.</exception>
    [AllowNull]
    public override string ConnectionString
    {
        get => _source.ConnectionString;
        set
        {
            if (value != _source.ConnectionString)
            {
                throw new NotSupportedException(
                    $"The connection string of a pooled connection belongs to its data source "
                        + $"('{_source.Name}'): make a data source for each.");
            }
        }
    }

    /// <summary>How long opening waits, in seconds; 0 without limit.</summary>
    public override int ConnectionTimeout => _source.TimeoutSeconds;

    /// <inheritdoc/>
    public override string Database => Native.Database;

    /// <inheritdoc/>
    public override string DataSource => Native.DataSource;

    /// <inheritdoc/>
    public override string ServerVersion => Native.ServerVersion;

    /// <inheritdoc/>
    public override ConnectionState State =>
        _session is { } session ? session.Native.State : _isOpening != 0 ? ConnectionState.Connecting : ConnectionState.Closed;

    /// <inheritdoc/>
    public override bool CanCreateBatch => Native.CanCreateBatch;

    /// <inheritdoc/>
    protected override DbProviderFactory DbProviderFactory => _source.Factory;

    internal PooledDbDataSource Source => _source;

    /// <summary>The transaction that was begun last, while it is not over.</summary>
    internal PooledDbTransaction? Current => _transaction;

    /// <summary>The provider's connection: the session's, or a closed one that says what a closed one says.</summary>
    internal DbConnection Native => _session?.Native ?? ClosedConnection;

    /// <summary>A connection of the provider that is never open.</summary>
    internal DbConnection ClosedConnection
    {
        get
        {
            if (_closedConnection is null)
            {
                _closedConnection = _source.Inner.CreateConnection();
                if (_isDisposed)
                {
                    _closedConnection.Dispose();
                }
            }

            return _closedConnection;
        }
    }

    /// <summary>Gives the provider's own connection, for what only it can do.</summary>
    /// <remarks>
    /// It is this connection's while this one is open; do not close or keep it. A session of SQLite is not used again after that.
    /// Handlers that you add to its events (<c>Notification</c>, <c>Notice</c>, <c>StateChange</c>) stay on the session and are called for
    /// the next renters too: remove them before you close, or set <see cref="PooledDbOptions.DestroySessionAfterUnwrap"/>. Those of this
    /// connection's own events stay with it.
    /// </remarks>
    /// <typeparam name="TConnection">The type, such as <c>NpgsqlConnection</c>.</typeparam>
    /// <exception cref="InvalidCastException">The connection has another type; the message names both.</exception>
    /// <exception cref="InvalidOperationException">This connection is closed.</exception>
    public TConnection Unwrap<TConnection>()
        where TConnection : DbConnection
    {
        DbSession session = _session ?? throw new InvalidOperationException(
            "The connection is closed: only an open one has a connection of the provider.");
        TConnection native = Cast<TConnection>(session.Native);
        session.Lend();
        if (_source.Options.DestroySessionAfterUnwrap)
        {
            session.Break();
        }

        return native;
    }

    /// <summary>
    /// Rents a session: an idle one, or a new one, or the next that comes back. The calling thread waits, as with
    /// <see cref="PooledDbDataSource.OpenConnection"/>.
    /// </summary>
    /// <exception cref="PooledDbException">There was none in time; the message names the option, its value and the numbers.</exception>
    /// <exception cref="InvalidOperationException">It is open (where the provider refuses that), or there is an ambient transaction,
    /// which it does not join.</exception>
    /// <exception cref="ObjectDisposedException">It was disposed, and the provider refuses to open a disposed connection.</exception>
    public override void Open()
    {
        if (IsOpenAlready())
        {
            return;
        }

        BeginOpening();
        ResourceLease<DbSession> lease;
        try
        {
            AnnounceOpening();
            lease = _source.Rent();
        }
        catch
        {
            FailOpening();
            throw;
        }

        EndOpening(lease);
    }

    /// <summary>Rents a session: an idle one, or a new one, or the next that comes back.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="PooledDbException">There was none in time; the message names the option, its value and the numbers.</exception>
    /// <exception cref="InvalidOperationException">It is open (where the provider refuses that), or there is an ambient transaction,
    /// which it does not join.</exception>
    /// <exception cref="ObjectDisposedException">It was disposed, and the provider refuses to open a disposed connection.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public override async Task OpenAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (IsOpenAlready())
        {
            return;
        }

        BeginOpening();
        ResourceLease<DbSession> lease;
        try
        {
            AnnounceOpening();
            lease = await _source.RentAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            FailOpening();
            throw;
        }

        EndOpening(lease);
    }

    /// <summary>
    /// Gives the session back: readers are closed, a transaction that is open is rolled back, everything else is left to the reset. Does
    /// nothing when it is closed.
    /// </summary>
    public override void Close()
    {
        if (TakeSession(out ResourceLease<DbSession> lease) is { } session)
        {
            if (HasLeftovers(session))
            {
                FinishUseAsync(isAsync: false, session, lease).EnsureCompleted();
            }
            else
            {
                lease.Dispose();
                Volatile.Write(ref _isClosing, 0);
            }

            NotifyClosed();
        }
    }

    /// <summary>Closes the connection, and waits for the reset where the pool resets on return.</summary>
    public override async Task CloseAsync() => await ReturnAsync().ConfigureAwait(false);

    /// <summary>Closes it, and waits for the reset where the pool resets on return.</summary>
    public override ValueTask DisposeAsync()
    {
        ValueTask returned;
        try
        {
            returned = ReturnAsync();
        }
        catch (Exception e)
        {
            returned = ValueTask.FromException(e); // thrown by a handler of StateChange
        }

        if (returned.IsCompletedSuccessfully)
        {
            Dispose();
            return default;
        }

        return Finish(returned);

        async ValueTask Finish(ValueTask returned)
        {
            try
            {
                await returned.ConfigureAwait(false);
            }
            finally
            {
                Dispose();
            }
        }
    }

    /// <inheritdoc/>
    /// <remarks>The session that was changed is not used again.</remarks>
    public override void ChangeDatabase(string databaseName)
    {
        DbSession? session = Enter();
        try
        {
            session?.Break();
            (session?.Native ?? ClosedConnection).ChangeDatabase(databaseName);
        }
        finally
        {
            Exit(session);
        }
    }

    /// <inheritdoc/>
    /// <remarks>The session that was changed is not used again.</remarks>
    public override async Task ChangeDatabaseAsync(string databaseName, CancellationToken cancellationToken = default)
    {
        DbSession? session = Enter();
        try
        {
            session?.Break();
            await (session?.Native ?? ClosedConnection).ChangeDatabaseAsync(databaseName, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Exit(session);
        }
    }

    /// <inheritdoc/>
    /// <remarks>The session comes back to the pool when the transaction is over, and is not used again.</remarks>
    public override void EnlistTransaction(Transaction? transaction)
    {
        DbSession? session = Enter();
        try
        {
            (session?.Native ?? ClosedConnection).EnlistTransaction(transaction);
            if (session is not null && transaction is not null)
            {
                session.Break();
                _enlisted = transaction.Clone(); // the caller may dispose its own before it closes the connection
            }
        }
        finally
        {
            Exit(session);
        }
    }

    /// <inheritdoc/>
    public override DataTable GetSchema() => Read(static native => native.GetSchema());

    /// <inheritdoc/>
    public override DataTable GetSchema(string collectionName) => Read(native => native.GetSchema(collectionName));

    /// <inheritdoc/>
    public override DataTable GetSchema(string collectionName, string?[] restrictionValues) =>
        Read(native => native.GetSchema(collectionName, restrictionValues));

    /// <inheritdoc/>
    public override Task<DataTable> GetSchemaAsync(CancellationToken cancellationToken = default) =>
        ReadAsync(native => native.GetSchemaAsync(cancellationToken));

    /// <inheritdoc/>
    public override Task<DataTable> GetSchemaAsync(string collectionName, CancellationToken cancellationToken = default) =>
        ReadAsync(native => native.GetSchemaAsync(collectionName, cancellationToken));

    /// <inheritdoc/>
    public override Task<DataTable> GetSchemaAsync(
        string collectionName, string?[] restrictionValues, CancellationToken cancellationToken = default) =>
        ReadAsync(native => native.GetSchemaAsync(collectionName, restrictionValues, cancellationToken));

    internal static TConnection Cast<TConnection>(DbConnection native)
        where TConnection : DbConnection =>
        native as TConnection ?? throw new InvalidCastException(
            $"The provider's connection is a {native.GetType()}, not a {typeof(TConnection)}.");

    /// <inheritdoc/>
    protected override DbTransaction BeginDbTransaction(IsolationLevel isolationLevel) =>
        BeginAsync(isAsync: false, isolationLevel, CancellationToken.None).EnsureCompleted();

    /// <inheritdoc/>
    protected override ValueTask<DbTransaction> BeginDbTransactionAsync(
        IsolationLevel isolationLevel, CancellationToken cancellationToken) => BeginAsync(isAsync: true, isolationLevel, cancellationToken);

    /// <inheritdoc/>
    protected override DbCommand CreateDbCommand()
    {
        if (_isDisposed)
        {
            ClosedConnection.CreateCommand().Dispose(); // throws where the provider's throws
        }

        return new PooledDbCommand(_source, this);
    }

    /// <inheritdoc/>
    protected override DbBatch CreateDbBatch()
    {
        if (_isDisposed)
        {
            ClosedConnection.CreateBatch().Dispose(); // throws where the provider's throws
        }

        return new PooledDbBatch(_source, this);
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (!disposing)
        {
            base.Dispose(disposing);
            return;
        }

        _isDisposed = true;
        Interlocked.MemoryBarrier(); // against an opening, which writes the session and then reads this
        try
        {
            if (_session is not null)
            {
                Close();
            }
        }
        finally
        {
            // Also when a listener throws.
            _closedConnection?.Dispose();
            base.Dispose(disposing);
        }
    }
}
