using System.Diagnostics.Metrics;

namespace Tidepool;

/// <summary>What a <see cref="ResourcePool{T}"/> is made of. Times are exact to the millisecond; <see cref="Timeout.InfiniteTimeSpan"/> switches one off.</summary>
/// <typeparam name="T">The resource.</typeparam>
public sealed class ResourcePoolOptions<T>
    where T : class
{
    private readonly TimeSpan? _idleTimeout;

    /// <summary>The name in messages, events and metrics. The default is the type's name and a number; a further pool of a name gets one too (<c>name#2</c>).</summary>
    public string? Name { get; init; }

    /// <summary>Resources that the pool keeps also when nobody needs them, 0 (the default) to <see cref="MaxSize"/>. They are created at once, in the background.</summary>
    public int MinSize { get; init; }

    /// <summary>Idle resources that the pool tries to have ready, 0 (the default) to <see cref="MaxSize"/>; never beyond <see cref="MaxSize"/> in all.</summary>
    public int MinIdle { get; init; }

    /// <summary>The most resources at a time, 1 or more: idle, leased, in creation and in destruction. There is no right default, so it must be given.</summary>
    public required int MaxSize { get; init; }

    /// <summary>The most creations at a time, 1 or more, for renters, warm-up and refill together. The default is 4.</summary>
    public int MaxCreateConcurrency { get; init; } = 4;

    /// <summary>The most rentals that may wait at a time, 1 or more; one more is refused at once. The default is no limit.</summary>
    public int MaxWaiters { get; init; } = int.MaxValue;

    /// <summary>How long a rental waits, creation and validation included, when it does not say otherwise. The default is 15 s.</summary>
    public TimeSpan RentTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>How long a creation may take; then its place is free again. The default is 15 s. Independent of the renter's timeout.</summary>
    public TimeSpan CreateTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>How long a validation, reset, keep-alive or destruction may take; then the place of its resource is free again. The default is 5 s.</summary>
    public TimeSpan PolicyTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A resource that was idle for at least this long is validated before a renter gets it. The default is 1 s; zero validates always.</summary>
    public TimeSpan ValidateAfterIdle { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A resource that was idle for this long is ended, but not below <see cref="MinSize"/> and <see cref="MinIdle"/>. Up to <see cref="MaxLifetime"/>; the default is 5 min, or that where it is shorter.</summary>
    public TimeSpan IdleTimeout
    {
        get => _idleTimeout ?? ResourceSettings.DefaultIdleTimeout(MaxLifetime);
        init => _idleTimeout = value;
    }

    /// <summary>How old a resource may grow, counted from its creation. A lease is never interrupted: its resource is ended on return. The default is 30 min.</summary>
    public TimeSpan MaxLifetime { get; init; } = TimeSpan.FromMinutes(30);

    /// <summary>By how much a resource's lifetime is shorter at most, as a part of it, 0 to 1; drawn once for each. The default is 0.1.</summary>
    public double LifetimeJitter { get; init; } = 0.1;

    /// <summary>How often an idle resource is kept alive. The default is never.</summary>
    public TimeSpan KeepAliveInterval { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>Which idle resource is rented next. The default is the one returned last.</summary>
    public ReuseOrder ReuseOrder { get; init; }

    /// <summary>When resources are reset. The default is in the background, after the return.</summary>
    public ResetMode ResetMode { get; init; }

    /// <summary>Sets the shortest pause between two attempts after a creation failed, before jitter. The default is 50 ms.</summary>
    /// <remarks>
    /// A pause grows with the time for which creations have failed: a tenth of it, at most 1 s, while callers wait; all of it otherwise. Jitter
    /// shortens each by up to a half. <see cref="ResourcePool{T}.ClearAsync"/> ends the pause.
    /// </remarks>
    public TimeSpan BackoffMin { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Sets the longest such pause while no caller waits, or after a failure that lasts. At least <see cref="BackoffMin"/>; 10 s by default.</summary>
    /// <remarks>A value below 1 s also bounds the pause while callers wait.</remarks>
    public TimeSpan BackoffMax { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A lease that is out for this long is reported, once. The default is never.</summary>
    public TimeSpan LeakThreshold { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>What such a report, and a timeout's message, know of where it was rented. The default is nothing.</summary>
    public LeakCapture LeakCapture { get; init; }

    /// <summary>Whether the place of a lease that was dropped comes free when the garbage collector finds it. Costs an object with a finalizer for each rental.</summary>
    public bool LeakReclaim { get; init; }

    /// <summary>The clock and the timers. The default is the system's; its milliseconds come from <see cref="Environment.TickCount64"/>.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>Where the meter <c>Tidepool</c> comes from. The default is a meter of the process.</summary>
    public IMeterFactory? MeterFactory { get; init; }

    /// <summary>A number from 0 (inclusive) to 1 (exclusive), for lifetimes and backoff.</summary>
    internal Func<double> Draw { get; init; } = Random.Shared.NextDouble;

    /// <summary>Which names its measurements have.</summary>
    internal MeterNames MeterNames { get; init; } = MeterNames.Resources;

    /// <summary>Where detached work runs; null is the thread pool.</summary>
    internal Action<IThreadPoolWorkItem>? Executor { get; init; }

    /// <summary>The same with another size.</summary>
    internal ResourcePoolOptions<T> Copy(string name, int maxSize) => new()
    {
        Name = name,
        MinSize = MinSize,
        MinIdle = MinIdle,
        MaxSize = maxSize,
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
        ResetMode = ResetMode,
        BackoffMin = BackoffMin,
        BackoffMax = BackoffMax,
        LeakThreshold = LeakThreshold,
        LeakCapture = LeakCapture,
        LeakReclaim = LeakReclaim,
        TimeProvider = TimeProvider,
        MeterFactory = MeterFactory,
        MeterNames = MeterNames,
        Draw = Draw,
        Executor = Executor,
    };
}
