using System.Diagnostics.Metrics;

namespace Tidepool;

/// <summary>Sets the size, the times and the rest of a pool of resources: without keys, for each key, or of database sessions.</summary>
/// <remarks>
/// Times are exact to the millisecond; <see cref="Timeout.InfiniteTimeSpan"/> switches one off. Values are checked when a pool is made. A
/// copy with other values is <c>options with { MaxSize = 4 }</c>.
/// </remarks>
public sealed record ResourcePoolOptions
{
    private readonly TimeSpan? _idleTimeout;

    /// <summary>Names the pool in messages, events and metrics.</summary>
    /// <remarks>
    /// Null, the default, takes the name of what is pooled: the resource's type and a number, or <c>server:port/database</c>. A further
    /// live pool of a name gets a number too (<c>name#2</c>).
    /// </remarks>
    public string? Name { get; init; }

    /// <summary>Sets how many resources to keep even when idle, 0 (the default) to <see cref="MaxSize"/>.</summary>
    /// <remarks>They are created at once, in the background.</remarks>
    public int MinSize { get; init; }

    /// <summary>Sets how many idle resources to have ready, 0 (the default) to <see cref="MaxSize"/>.</summary>
    /// <remarks>Never beyond <see cref="MaxSize"/> in all.</remarks>
    public int MinIdle { get; init; }

    /// <summary>Sets the most resources at a time, 1 or more: idle, leased, in creation and in destruction.</summary>
    /// <remarks>There is no right default, so it must be given.</remarks>
    public required int MaxSize { get; init; }

    /// <summary>Sets the most creations at a time, 1 or more, for renters, warm-up and refill together. The default is 4.</summary>
    public int MaxCreateConcurrency { get; init; } = 4;

    /// <summary>Sets the most rentals that may wait at a time, 1 or more; one more is refused at once. The default is no limit.</summary>
    public int MaxWaiters { get; init; } = int.MaxValue;

    /// <summary>Sets how long a rental waits, creation and validation included, unless it says otherwise. 15 s by default.</summary>
    public TimeSpan RentTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Sets how long a creation may take; then its place is free again. The default is 15 s.</summary>
    /// <remarks>Independent of the renter's timeout.</remarks>
    public TimeSpan CreateTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Sets how long a validation, reset, keep-alive or destruction may take. The default is 5 s.</summary>
    /// <remarks>Then the place of its resource is free again.</remarks>
    public TimeSpan PolicyTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Sets from what idle time on a resource is validated before it is rented. The default is 1 s; zero always does.</summary>
    public TimeSpan ValidateAfterIdle { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Sets after what idle time a resource is destroyed, but not below <see cref="MinSize"/> and <see cref="MinIdle"/>.</summary>
    /// <remarks>Up to <see cref="MaxLifetime"/>. The default is 5 min, or that where it is shorter.</remarks>
    public TimeSpan IdleTimeout
    {
        get => _idleTimeout ?? ResourceSettings.DefaultIdleTimeout(MaxLifetime);
        init => _idleTimeout = value;
    }

    /// <summary>Sets how old a resource may grow, counted from its creation. The default is 30 min.</summary>
    /// <remarks>A lease is never interrupted: its resource is destroyed on return.</remarks>
    public TimeSpan MaxLifetime { get; init; } = TimeSpan.FromMinutes(30);

    /// <summary>Sets by how much a lifetime is shorter at most, as a part of it, 0 to 1. The default is 0.1.</summary>
    /// <remarks>Drawn once for each resource.</remarks>
    public double LifetimeJitter { get; init; } = 0.1;

    /// <summary>Sets how often an idle resource is kept alive. The default is never.</summary>
    public TimeSpan KeepAliveInterval { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>Chooses which idle resource is rented next. The default is the one returned last.</summary>
    public ReuseOrder ReuseOrder { get; init; }

    /// <summary>Chooses when resources are reset. The default is in the background, after the return.</summary>
    public ResetMode ResetMode { get; init; }

    /// <summary>Sets the shortest pause between two attempts after a creation failed, before jitter. The default is 50 ms.</summary>
    /// <remarks>
    /// A pause grows with the time for which creations have failed: a tenth of it, at most 1 s, while callers wait; all of it otherwise.
    /// Jitter shortens each by up to a half. <see cref="ResourcePool{T}.ClearAsync"/> ends the pause.
    /// </remarks>
    public TimeSpan BackoffMin { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Sets the longest such pause while no caller waits, or after a failure that lasts. The default is 10 s.</summary>
    /// <remarks>
    /// At least <see cref="BackoffMin"/>. A value below 1 s also bounds the pause while callers wait. A refused password is a failure that
    /// lasts.
    /// </remarks>
    public TimeSpan BackoffMax { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Sets after what time a lease that is still out is reported, once. The default is never.</summary>
    public TimeSpan LeakThreshold { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>Chooses what such a report, and a timeout's message, know of where a lease was rented. The default is nothing.</summary>
    public LeakCapture LeakCapture { get; init; }

    /// <summary>Frees the place of a lease that was dropped when the garbage collector finds it. The default does not.</summary>
    /// <remarks>Costs an object with a finalizer for each rental.</remarks>
    public bool ReclaimLeaks { get; init; }

    /// <summary>Gives the clock and the timers. The default is the system's.</summary>
    /// <remarks>The system's milliseconds come from <see cref="Environment.TickCount64"/>.</remarks>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>Gives the meter <c>Tidepool</c>. The default is a meter of the process.</summary>
    public IMeterFactory? MeterFactory { get; init; }

    /// <summary>Checks the values as making a pool does, for programs that read them from a configuration.</summary>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    public void Validate() => _ = new ResourceSettings(this);

    /// <summary>Draws a number from 0 (inclusive) to 1 (exclusive), for lifetimes and backoff.</summary>
    internal Func<double> NextRandom { get; init; } = Random.Shared.NextDouble;

    /// <summary>Names the measurements.</summary>
    internal MeterNames MeterNames { get; init; } = MeterNames.Resources;

    /// <summary>Runs detached work; null is the thread pool.</summary>
    internal Action<IThreadPoolWorkItem>? Executor { get; init; }
}

/// <summary>Which idle resource is rented next.</summary>
public enum ReuseOrder
{
    /// <summary>The one returned last: it is warm, and what a shrinking load no longer needs grows old and is destroyed.</summary>
    LastIn,

    /// <summary>The one that has been idle for longest: spreads the load over all, as behind a load balancer.</summary>
    FirstIn,
}

/// <summary>When a pool resets a resource between two renters.</summary>
public enum ResetMode
{
    /// <summary>
    /// After the return, which does not wait for it; the resource is available once it has ended. The reset begins on the returning
    /// thread. Where others rent synchronously and the lease ended by <c>Dispose</c>, it is left to a thread that waits for it: one of the
    /// thread pool, or that of the next renter, whichever comes first.
    /// </summary>
    Background,

    /// <summary>
    /// In the return: <c>DisposeAsync</c> of the lease waits for it; <c>Dispose</c> uses <see cref="ResourcePolicy{T}.Reset"/>, or the
    /// background where the policy has no synchronous reset.
    /// </summary>
    OnReturn,

    /// <summary>Before the next renter gets it, within that renter's timeout.</summary>
    OnRent,

    /// <summary>Never.</summary>
    None,
}

/// <summary>What is recorded of each rental, for reports about leases that do not come back.</summary>
public enum LeakCapture
{
    /// <summary>Nothing: a rental costs no allocation.</summary>
    None,

    /// <summary>The method that rented. Costs a walk of the stack for each rental.</summary>
    CallSite,

    /// <summary>The whole stack. Costs a walk of the stack for each rental.</summary>
    Stack,
}
