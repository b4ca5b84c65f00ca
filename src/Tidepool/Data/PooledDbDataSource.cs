using System.Collections.Concurrent;
using System.Data.Common;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Transactions;

namespace Tidepool.Data;

/// <summary>
/// Pooled connections of any ADO.NET provider: bounded, first come first served, checked, reset, renewed. What it opens behaves as the
/// provider's connections do; closing gives the session back.
/// </summary>
/// <remarks>
/// Thread-safe; the connections are for one thread at a time, as all are. The provider's own pool is off. Opening an idle session and
/// closing it allocates the connection object, takes no lock while no caller waits, and sends nothing; by default the session is reset in
/// the background, after it was closed. Dispose the data source when the last connection is closed.
/// </remarks>
/// <example>
/// <code>
/// using System.Data.Common;
/// using Tidepool.Data;
///
/// // One data source for the life of the program; the connection string says Pooling=false.
/// sealed class Orders(DbProviderFactory provider, string connectionString)
/// {
///     private readonly PooledDbDataSource _source = new(provider, connectionString, new() { Pool = new() { MaxSize = 20 } });
///
///     public async Task&lt;object?&gt; CountAsync()
///     {
///         await using DbConnection connection = await _source.OpenConnectionAsync();
///         await using DbCommand command = connection.CreateCommand();
///         command.CommandText = "SELECT count(*) FROM orders";
///         return await command.ExecuteScalarAsync();
///     }
/// }
/// </code>
/// </example>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
[DebuggerDisplay("{Name,nq}")]
public sealed class PooledDbDataSource : DbDataSource
{
    private readonly ResourcePool<DbSession> _pool;
    private readonly bool _refusesAmbient;

    /// <summary>Pools the connections of a data source, whose own pooling is off; it is disposed with this one.</summary>
    /// <param name="inner">Where the connections come from.</param>
    /// <param name="options">Sizes, times and the rest; null for the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="inner"/> is null.</exception>
    /// <exception cref="ArgumentException">
    /// The connection string of <paramref name="inner"/> leaves the provider's pool on, or it says <c>Max Auto Prepare</c> behind a
    /// pooler in transaction mode, or <see cref="PooledDbOptions.InitializeSessionAsync"/> is given alone.
    /// </exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public PooledDbDataSource(DbDataSource inner, PooledDbOptions? options = null)
        : this(inner, FactoryOf(inner), ReadUnpooled(inner), options)
    {
    }

    /// <summary>
    /// Pools the connections of a provider; its own pool is switched off where its connection strings have the word <c>Pooling</c>.
    /// </summary>
    /// <remarks>
    /// With Npgsql and MySqlConnector the provider's limit for an opening is lowered to <see cref="ResourcePoolOptions.CreateTimeout"/>
    /// where it is longer, or none: a caller that blocks waits for as long as the provider.
    /// </remarks>
    /// <param name="factory">The provider's factory, such as <c>NpgsqlFactory.Instance</c>.</param>
    /// <param name="connectionString">How the provider connects.</param>
    /// <param name="options">Sizes, times and the rest; null for the defaults.</param>
    /// <exception cref="ArgumentNullException">One is null.</exception>
    /// <exception cref="ArgumentException">
    /// The connection string is none for this provider, or it says <c>Max Auto Prepare</c> behind a pooler in transaction mode, or
    /// <see cref="PooledDbOptions.InitializeSessionAsync"/> is given alone.
    /// </exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public PooledDbDataSource(DbProviderFactory factory, string connectionString, PooledDbOptions? options = null)
        : this(factory, Read(factory, connectionString), options)
    {
    }

    private PooledDbDataSource(DbProviderFactory factory, ConnectionText text, PooledDbOptions? options)
        : this(CreateInner(factory, text, options), factory, text, options)
    {
    }

    private PooledDbDataSource(DbDataSource inner, DbProviderFactory? factory, ConnectionText text, PooledDbOptions? options)
    {
        options ??= new PooledDbOptions();
        ResourceSettings.Given(options.Pool, nameof(options.Pool), "the options of a pool", nameof(options));
        CheckPooler(options, text);
        Inner = inner;
        NativeFactory = factory;
        Text = text;
        Options = options;
        Adapter = options.Adapter ?? AdapterOf(factory?.GetType() ?? inner.GetType());
        _refusesAmbient = Adapter.JoinsAmbientTransactions && !text.IgnoresAmbient && !options.IgnoreAmbientTransactions;
        ResourcePoolOptions pool = options.ForPool(text.Name.Length == 0 ? "database" : text.Name);
        Policy = new DbSessionPolicy(inner, Adapter, text.Prepares)
        {
            Resets = pool.ResetMode != ResetMode.None,
            ResetsLater = options.ResetWithNextStatement && !text.KeepsAlive, // its timer may write at the same time
            LooksForPooler = options.SessionPooler == SessionPooler.Unknown,
            StatementLimit = DbSessionPolicy.LimitOf(pool.PolicyTimeout),
            Initializer = SessionInitializer.Of(options),
        };
        _pool = new ResourcePool<DbSession>(Policy, pool);
        Policy.Core = _pool.Core;
        Factory = new PooledDbFactory(this);
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _pool.Name;

    /// <summary>How the database is reset and asked, and what its errors mean.</summary>
    public DbAdapter Adapter { get; }

    /// <summary>The connection string, without passwords.</summary>
    public override string ConnectionString => Text.Public;

    internal DbDataSource Inner { get; }

    internal DbProviderFactory? NativeFactory { get; }

    internal PooledDbFactory Factory { get; }

    internal DbSessionPolicy Policy { get; }

    internal PooledDbOptions Options { get; }

    internal ConnectionText Text { get; }

    /// <summary>Whether a prepared statement is there when its session is used again.</summary>
    internal bool Prepares => Options.SessionPooler != SessionPooler.Transaction;

    internal int TimeoutSeconds => _pool.Core.RentTimeout is { Ticks: > 0 } time ? (int)Math.Ceiling(time.TotalSeconds) : 0;

    /// <summary>
    /// Makes a closed connection. Opening it rents a session, closing it gives the session back; both as often as you like.
    /// </summary>
    public new PooledDbConnection CreateConnection() => new(this);

    /// <summary>
    /// Opens a connection: an idle session, or a new one, or the next that comes back. The calling thread waits, and does what needs
    /// doing for it; it needs no other thread.
    /// </summary>
    /// <returns>The open connection; dispose it.</returns>
    /// <exception cref="PooledDbException">There was none in time; the message names the option, its value and the numbers.</exception>
    /// <exception cref="InvalidOperationException">There is an ambient transaction, which a pooled connection does not join.</exception>
    public new PooledDbConnection OpenConnection()
    {
        RefuseAmbient();
        return new PooledDbConnection(this, Rent());
    }

    /// <summary>Opens a connection: an idle session, or a new one, or the next that comes back.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The open connection; dispose it. Complete already when a session was idle.</returns>
    /// <exception cref="PooledDbException">There was none in time; the message names the option, its value and the numbers.</exception>
    /// <exception cref="InvalidOperationException">There is an ambient transaction, which a pooled connection does not join.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public new ValueTask<PooledDbConnection> OpenConnectionAsync(CancellationToken cancellationToken = default)
    {
        if (_refusesAmbient && Transaction.Current is { } ambient)
        {
            return ValueTask.FromException<PooledDbConnection>(Refusal(ambient));
        }

        ValueTask<ResourceLease<DbSession>> rental = _pool.RentAsync(cancellationToken);
        return rental.IsCompletedSuccessfully
            ? new ValueTask<PooledDbConnection>(new PooledDbConnection(this, rental.Result))
            : Finish(rental);

        async ValueTask<PooledDbConnection> Finish(ValueTask<ResourceLease<DbSession>> rental) =>
            new(this, await Translate(rental).ConfigureAwait(false));
    }

    /// <summary>Rents the provider's own connection, open, for libraries that accept no other. The calling thread waits.</summary>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="PooledDbException">There was none in time; the message names the option, its value and the numbers.</exception>
    /// <exception cref="InvalidOperationException">There is an ambient transaction, which a pooled connection does not join.</exception>
    public DbConnectionLease RentNative()
    {
        RefuseAmbient();
        return Lend(Rent());
    }

    /// <summary>Rents the provider's own connection, open, for libraries that accept no other.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="PooledDbException">There was none in time; the message names the option, its value and the numbers.</exception>
    /// <exception cref="InvalidOperationException">There is an ambient transaction, which a pooled connection does not join.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<DbConnectionLease> RentNativeAsync(CancellationToken cancellationToken = default)
    {
        RefuseAmbient();
        return Lend(await RentAsync(cancellationToken).ConfigureAwait(false));
    }

    /// <summary>Opens so many sessions ahead of need, at most <see cref="ResourcePoolOptions.MaxCreateConcurrency"/> at a time.</summary>
    /// <param name="count">How many, 0 to the largest size.</param>
    /// <param name="cancellationToken">Ends the waiting, not the creations.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative or beyond the largest size.</exception>
    /// <exception cref="PooledDbException">A session could not be opened.</exception>
    public async Task WarmUpAsync(int count, CancellationToken cancellationToken = default)
    {
        try
        {
            await _pool.WarmUpAsync(count, cancellationToken).ConfigureAwait(false);
        }
        catch (ResourcePoolException e)
        {
            throw new PooledDbException(e);
        }
    }

    /// <summary>Ends every session that lives now: idle ones at once, those in use when they come back.</summary>
    /// <remarks>Failed attempts are forgotten: the next session is opened at once, also after the server refused the credentials.</remarks>
    /// <returns>Ends when the idle ones are gone.</returns>
    public Task ClearAsync() => _pool.ClearAsync();

    /// <summary>Like <see cref="ClearAsync"/>, spread over a time.</summary>
    /// <param name="over">The interval, 1 ms or more.</param>
    /// <returns>Ends with the interval.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The interval is not positive, or infinite.</exception>
    public Task RenewAsync(TimeSpan over) => _pool.RenewAsync(over);

    /// <summary>
    /// Changes the sizes. A larger one serves waiting callers at once; for a smaller one sessions close when they come back.
    /// </summary>
    /// <param name="min">The smallest size, 0 to <paramref name="max"/>.</param>
    /// <param name="max">The largest size, 1 or more.</param>
    /// <exception cref="ArgumentOutOfRangeException">One is out of its range; nothing has changed.</exception>
    public void Resize(int min, int max) => _pool.Resize(min, max);

    /// <summary>The pool's counters at one moment.</summary>
    public ResourcePoolStatistics GetStatistics() => _pool.GetStatistics();

    /// <summary>Ends the pool: opening fails from now on, idle sessions end, and connections that are open have a time of grace.</summary>
    /// <param name="grace">How long to wait for open connections; zero does not wait, <see cref="Timeout.InfiniteTimeSpan"/> waits for
    /// all of them.</param>
    /// <returns>True when no session lives. False when connections were still open at the end of the grace.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The grace is negative, or longer than a timer can wait.</exception>
    public Task<bool> ShutdownAsync(TimeSpan grace) => _pool.ShutdownAsync(grace);

    /// <summary>Checks the pool's invariants.</summary>
    internal void Validate() => _pool.Validate();

    internal void RefuseAmbient()
    {
        if (_refusesAmbient && Transaction.Current is { } ambient)
        {
            throw Refusal(ambient);
        }
    }

    internal ResourceLease<DbSession> Rent()
    {
        try
        {
            return _pool.Rent();
        }
        catch (ResourcePoolException e)
        {
            throw new PooledDbException(e);
        }
    }

    internal ValueTask<ResourceLease<DbSession>> RentAsync(CancellationToken cancellationToken)
    {
        ValueTask<ResourceLease<DbSession>> rental = _pool.RentAsync(cancellationToken);
        return rental.IsCompletedSuccessfully ? rental : Translate(rental);
    }

    /// <inheritdoc/>
    protected override DbConnection CreateDbConnection() => CreateConnection();

    /// <inheritdoc/>
    protected override DbBatch CreateDbBatch() => new DataSourceBatch(this);

    /// <inheritdoc/>
    protected override DbConnection OpenDbConnection() => OpenConnection();

    /// <inheritdoc/>
    protected override async ValueTask<DbConnection> OpenDbConnectionAsync(CancellationToken cancellationToken = default) =>
        await OpenConnectionAsync(cancellationToken).ConfigureAwait(false);

    /// <summary>
    /// Ends the pool without waiting: sessions that are idle now end in the background, those in use when they come back.
    /// </summary>
    /// <param name="disposing">Whether it was called by code.</param>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _pool.Core.Close(out _, out _);
            Inner.Dispose();
        }
    }

    /// <summary>Ends the pool, and waits for sessions that are idle now.</summary>
    protected override async ValueTask DisposeAsyncCore()
    {
        await _pool.DisposeAsync().ConfigureAwait(false);
        await Inner.DisposeAsync().ConfigureAwait(false);
    }

    private static async ValueTask<ResourceLease<DbSession>> Translate(ValueTask<ResourceLease<DbSession>> rental)
    {
        try
        {
            return await rental.ConfigureAwait(false);
        }
        catch (ResourcePoolException e)
        {
            throw new PooledDbException(e);
        }
    }

    private static void CheckPooler(PooledDbOptions options, ConnectionText text)
    {
        options.CheckPooler();
        if (options.SessionPooler == SessionPooler.Transaction && text.Prepares)
        {
            throw new ArgumentException(
                $"The connection string says Max Auto Prepare, and {nameof(SessionPooler)} is "
                    + $"{nameof(SessionPooler.Transaction)}: a statement "
                + "that was prepared on one connection of the server does not exist on the next. "
                + "Remove Max Auto Prepare. Only where the pooler "
                + "itself follows prepared statements (PgBouncer from 1.21 on, with max_prepared_statements) say "
                + $"{nameof(SessionPooler)} = {nameof(SessionPooler.None)} and {nameof(ResetMode)} = {nameof(ResetMode.None)} instead.",
                nameof(options));
        }
    }

    /// <summary>
    /// The provider's data source. An opening takes no longer than a creation may: the pool ends neither the wait of a caller that blocks
    /// nor that of a request by which the provider cancels a statement.
    /// </summary>
    private static DbDataSource CreateInner(DbProviderFactory factory, ConnectionText text, PooledDbOptions? options)
    {
        TimeSpan limit = ((options ?? new PooledDbOptions()).Pool ?? new PooledDbOptions().Pool).CreateTimeout;
        return factory.CreateDataSource(
            AdapterOf(factory.GetType()).OpeningTimeout is { } word ? text.LimitOpening(factory, word, limit) : text.Unpooled);
    }

    private static DbConnectionLease Lend(ResourceLease<DbSession> lease)
    {
        DbSession session = lease.Value;
        session.Lend();
        return new DbConnectionLease(lease);
    }

    private InvalidOperationException Refusal(Transaction ambient) => new(
        $"Pool '{Name}' opens no connection inside the ambient transaction {ambient.TransactionInformation.LocalIdentifier}: a "
            + "pooled session does not join it, "
        + "and would work outside of it unnoticed. Begin a transaction on the connection, leave the TransactionScope, or say "
        + "Enlist=false in the connection string "
        + $"(or {nameof(PooledDbOptions)}.{nameof(PooledDbOptions.IgnoreAmbientTransactions)} = "
        + "true) when the ambient transaction is none of its business.");

    private static ConnectionText Read(DbProviderFactory factory, string connectionString)
    {
        ArgumentNullException.ThrowIfNull(factory);
        ArgumentNullException.ThrowIfNull(connectionString);
        return ConnectionText.Of(factory, connectionString);
    }

    private static DbProviderFactory? FactoryOf(DbDataSource inner)
    {
        ArgumentNullException.ThrowIfNull(inner);
        using DbConnection connection = inner.CreateConnection();
        return DbProviderFactories.GetFactory(connection);
    }

    private static ConnectionText ReadUnpooled(DbDataSource inner)
    {
        if (inner is PooledDbDataSource)
        {
            throw new ArgumentException(
                $"{nameof(inner)} is a {nameof(PooledDbDataSource)}: its connections are pooled already.", nameof(inner));
        }

        ConnectionText text = ConnectionText.Of(FactoryOf(inner), inner.ConnectionString);
        return text.HasPooling
            ? throw new ArgumentException(
                $"The connection string of {nameof(inner)} leaves the provider's own pool on ('{text.Name}'): say Pooling=false in "
                    + "it, so that closing a session closes it.", nameof(inner))
            : text;
    }

    private static DbAdapter AdapterOf(Type provider) => provider.Namespace switch
    {
        "Npgsql" => DbAdapter.Postgres,
        "MySqlConnector" => DbAdapter.MySql,
        "Microsoft.Data.Sqlite" => DbAdapter.Sqlite,
        _ => DbAdapter.Generic,
    };
}
