using System.Data.Common;
using System.Diagnostics.Metrics;

namespace Tidepool.Data;

/// <summary>What a <see cref="PooledDbDataSource"/> is made of. Times are exact to the millisecond; <see cref="Timeout.InfiniteTimeSpan"/> switches one off.</summary>
public sealed class PooledDbOptions
{
    private readonly TimeSpan? _idleTimeout;

    /// <summary>The name in messages, events and metrics. The default is <c>server:port/database</c>; a further pool of a name gets a number (<c>name#2</c>).</summary>
    public string? Name { get; init; }

    /// <summary>How the database is reset and asked, and what its errors mean. The default is chosen by the provider.</summary>
    public DbAdapter? Adapter { get; init; }

    /// <summary>
    /// Whether connections may be opened inside a <see cref="System.Transactions.Transaction"/>, without taking part in it. The default refuses,
    /// unless the connection string says <c>Enlist=false</c> or the provider never takes part.
    /// </summary>
    public bool IgnoreAmbientTransactions { get; init; }

    /// <summary>What pools sessions between this program and the server. The default looks for a pooler and warns once.</summary>
    /// <remarks>
    /// With <see cref="SessionPooler.Unknown"/> PostgreSQL is asked once for the number of its process, one round trip for the first
    /// session of the pool; where it is not the number that the provider was told, the event <c>PoolerFound</c> says so. With
    /// <see cref="SessionPooler.Transaction"/> the pool resets nothing, whatever <see cref="ResetMode"/> says, and <c>Prepare</c> of
    /// commands and batches does nothing.
    /// </remarks>
    public SessionPooler SessionPooler { get; init; }

    /// <summary>Whether a session ends on return after <see cref="PooledDbConnection.Unwrap"/>. The default resets and keeps it.</summary>
    /// <remarks>
    /// A reset cannot remove handlers of the provider's events (<c>Notification</c>, <c>Notice</c>): they would be called for the next
    /// renters too. Does not concern <see cref="PooledDbDataSource.Lease"/>.
    /// </remarks>
    public bool EndSessionAfterUnwrap { get; init; }

    /// <summary>
    /// Makes a new session ready: settings, functions, attached databases. Gets the provider's connection, open, before anybody rents it. It must not keep
    /// it, enlist it, or leave a transaction or a reader open; it runs on whatever thread opens the session, outside of any ambient transaction. Unless
    /// <see cref="ResetMode"/> is <see cref="Tidepool.ResetMode.None"/> the session is then reset once, so that all who rent it see the same: what a reset
    /// undoes is not there for the first one either (temporary tables; with PostgreSQL also settings, which belong into the connection string). What it throws is a
    /// failed creation. The default does nothing.
    /// </summary>
    public Action<DbConnection>? InitializeSession { get; init; }

    /// <summary>
    /// The same for sessions that are opened for callers that await; needs <see cref="InitializeSession"/> for those that block. The token is cancelled after
    /// <see cref="CreateTimeout"/>. The default calls <see cref="InitializeSession"/>.
    /// </summary>
    public Func<DbConnection, CancellationToken, Task>? InitializeSessionAsync { get; init; }

    /// <summary>Sessions that the pool keeps also when nobody needs them, 0 (the default) to <see cref="MaxSize"/>.</summary>
    public int MinSize { get; init; }

    /// <summary>Idle sessions that the pool tries to have ready, 0 (the default) to <see cref="MaxSize"/>; never beyond <see cref="MaxSize"/> in all.</summary>
    public int MinIdle { get; init; }

    /// <summary>The most sessions at a time, 1 or more. The default is 100.</summary>
    public int MaxSize { get; init; } = 100;

    /// <summary>The most sessions that are opened at a time, 1 or more. The default is 4.</summary>
    public int MaxCreateConcurrency { get; init; } = 4;

    /// <summary>The most callers that may wait at a time, 1 or more; one more is refused at once. The default is no limit.</summary>
    public int MaxWaiters { get; init; } = int.MaxValue;

    /// <summary>How long opening a connection waits, whatever for. The default is 15 s.</summary>
    public TimeSpan RentTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>How long the server may take to open a session; then its place is free again. The default is 15 s.</summary>
    public TimeSpan CreateTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>How long a validation, a reset or a disconnection may take; then the place of the session is free again. The default is 5 s.</summary>
    public TimeSpan PolicyTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A session that was idle for at least this long is asked whether it lives before somebody gets it. The default is 1 s; zero asks always.</summary>
    public TimeSpan ValidateAfterIdle { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A session that was idle for this long is closed, but not below <see cref="MinSize"/> and <see cref="MinIdle"/>. Up to <see cref="MaxLifetime"/>; the default is 5 min, or that where it is shorter.</summary>
    public TimeSpan IdleTimeout
    {
        get => _idleTimeout ?? ResourceSettings.DefaultIdleTimeout(MaxLifetime);
        init => _idleTimeout = value;
    }

    /// <summary>How old a session may grow. One that is in use then is closed when it comes back. The default is 30 min.</summary>
    public TimeSpan MaxLifetime { get; init; } = TimeSpan.FromMinutes(30);

    /// <summary>By how much a session's lifetime is shorter at most, as a part of it, 0 to 1; drawn once for each. The default is 0.1.</summary>
    public double LifetimeJitter { get; init; } = 0.1;

    /// <summary>How often an idle session is asked whether it lives. The default is never.</summary>
    public TimeSpan KeepAliveInterval { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>Which idle session is used next. The default is the one returned last.</summary>
    public ReuseOrder ReuseOrder { get; init; }

    /// <summary>
    /// When sessions are reset. The default is in the background, after the return. <see cref="Tidepool.ResetMode.None"/> leaves everything but an open
    /// transaction to the next user: only for programs that never change a session.
    /// </summary>
    public ResetMode ResetMode { get; init; }

    /// <summary>Sets the shortest pause between two attempts after a session could not be opened, before jitter. The default is 50 ms.</summary>
    /// <remarks>
    /// A pause grows with the time for which sessions could not be opened: a tenth of it, at most 1 s, while callers wait; all of it otherwise.
    /// Jitter shortens each by up to a half. <see cref="PooledDbDataSource.ClearAsync"/> ends the pause.
    /// </remarks>
    public TimeSpan BackoffMin { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Sets the longest such pause while no caller waits, or when the server refuses the credentials. At least <see cref="BackoffMin"/>; 10 s by default.</summary>
    /// <remarks>A value below 1 s also bounds the pause while callers wait.</remarks>
    public TimeSpan BackoffMax { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A connection that is open for this long is reported, once. The default is never.</summary>
    public TimeSpan LeakThreshold { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>What such a report, and a timeout's message, know of where it was opened. The default is nothing.</summary>
    public LeakCapture LeakCapture { get; init; }

    /// <summary>Whether the place of a connection that was dropped without being closed comes free when the garbage collector finds it.</summary>
    public bool LeakReclaim { get; init; }

    /// <summary>The clock and the timers. The default is the system's.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>Where the meter <c>Tidepool</c> comes from. The default is a meter of the process.</summary>
    public IMeterFactory? MeterFactory { get; init; }

    /// <summary>Where detached work runs; null is the thread pool.</summary>
    internal Action<IThreadPoolWorkItem>? Executor { get; init; }

    /// <summary>The same for the pool of sessions.</summary>
    internal ResourcePoolOptions<DbSession> ForPool(string name) => new()
    {
        Name = name,
        MinSize = MinSize,
        MinIdle = MinIdle,
        MaxSize = MaxSize,
        MaxCreateConcurrency = MaxCreateConcurrency,
        MaxWaiters = MaxWaiters,
        RentTimeout = RentTimeout,
        CreateTimeout = CreateTimeout,
        PolicyTimeout = PolicyTimeout,
        ValidateAfterIdle = ValidateAfterIdle,
        IdleTimeout = IdleTimeout,
        MaxLifetime = MaxLifetime,
        LifetimeJitter = LifetimeJitter,
        KeepAliveInterval = KeepAliveInterval,
        ReuseOrder = ReuseOrder,
        ResetMode = SessionPooler == SessionPooler.Transaction ? ResetMode.None : ResetMode,
        BackoffMin = BackoffMin,
        BackoffMax = BackoffMax,
        LeakThreshold = LeakThreshold,
        LeakCapture = LeakCapture,
        LeakReclaim = LeakReclaim,
        TimeProvider = TimeProvider,
        MeterFactory = MeterFactory,
        MeterNames = MeterNames.Connections,
        Executor = Executor,
    };
}
