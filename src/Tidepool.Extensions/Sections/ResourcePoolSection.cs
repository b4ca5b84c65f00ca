using System.Diagnostics.Metrics;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool;

/// <summary>What <c>Tidepool:Pools:NAME</c> may say of a resource pool.</summary>
/// <remarks>
/// Each property means what it means in <see cref="ResourcePoolOptions"/>, and has the same default. Times are written
/// <c>hours:minutes:seconds</c>; <c>-00:00:00.001</c> is <see cref="Timeout.InfiniteTimeSpan"/>. The clock and the meter are the program's
/// <see cref="System.TimeProvider"/> and <see cref="IMeterFactory"/>, where it has registered them.
/// </remarks>
public class ResourcePoolSection
{
    private static readonly ResourcePoolOptions Defaults = new() { MaxSize = 1 };

    /// <summary>Sets the most resources at a time, 1 or more. There is no default for resources; that of connections is 100.</summary>
    public int MaxSize { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.MinSize"/>
    public int MinSize { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.MinIdle"/>
    public int MinIdle { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.MaxCreateConcurrency"/>
    public int MaxCreateConcurrency { get; set; } = Defaults.MaxCreateConcurrency;

    /// <inheritdoc cref="ResourcePoolOptions.MaxWaiters"/>
    public int MaxWaiters { get; set; } = Defaults.MaxWaiters;

    /// <inheritdoc cref="ResourcePoolOptions.RentTimeout"/>
    public TimeSpan RentTimeout { get; set; } = Defaults.RentTimeout;

    /// <inheritdoc cref="ResourcePoolOptions.CreateTimeout"/>
    public TimeSpan CreateTimeout { get; set; } = Defaults.CreateTimeout;

    /// <inheritdoc cref="ResourcePoolOptions.PolicyTimeout"/>
    public TimeSpan PolicyTimeout { get; set; } = Defaults.PolicyTimeout;

    /// <inheritdoc cref="ResourcePoolOptions.ValidateAfterIdle"/>
    public TimeSpan ValidateAfterIdle { get; set; } = Defaults.ValidateAfterIdle;

    /// <summary>Sets after what idle time a resource is destroyed. The default is 5 min, or the lifetime where it is shorter.</summary>
    public TimeSpan? IdleTimeout { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.MaxLifetime"/>
    public TimeSpan MaxLifetime { get; set; } = Defaults.MaxLifetime;

    /// <inheritdoc cref="ResourcePoolOptions.LifetimeJitter"/>
    public double LifetimeJitter { get; set; } = Defaults.LifetimeJitter;

    /// <inheritdoc cref="ResourcePoolOptions.KeepAliveInterval"/>
    public TimeSpan KeepAliveInterval { get; set; } = Defaults.KeepAliveInterval;

    /// <inheritdoc cref="ResourcePoolOptions.ReuseOrder"/>
    public ReuseOrder ReuseOrder { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.ResetMode"/>
    public ResetMode ResetMode { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.BackoffMin"/>
    public TimeSpan BackoffMin { get; set; } = Defaults.BackoffMin;

    /// <inheritdoc cref="ResourcePoolOptions.BackoffMax"/>
    public TimeSpan BackoffMax { get; set; } = Defaults.BackoffMax;

    /// <inheritdoc cref="ResourcePoolOptions.LeakThreshold"/>
    public TimeSpan LeakThreshold { get; set; } = Defaults.LeakThreshold;

    /// <inheritdoc cref="ResourcePoolOptions.LeakCapture"/>
    public LeakCapture LeakCapture { get; set; }

    /// <inheritdoc cref="ResourcePoolOptions.ReclaimLeaks"/>
    public bool ReclaimLeaks { get; set; }

    /// <summary>Sets how many resources are created before the host's servers start, 0 to <see cref="MaxSize"/>.</summary>
    /// <remarks>The default is <see cref="MinSize"/>. A pool that cannot create them is logged; the host starts all the same.</remarks>
    public int? WarmUp { get; set; }

    /// <summary>Sets how long the host waits for leases when it stops, after its servers have stopped. The default is 10 s.</summary>
    /// <remarks>Zero does not wait. The host's own <c>ShutdownTimeout</c> ends the wait too.</remarks>
    public TimeSpan ShutdownGrace { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Sets how long a health check waits for a rental of its own. The default is 5 s; zero rents nothing.</summary>
    /// <remarks>It rents only where a place is free or a resource is idle, so it never stands in the queue of a busy pool.</remarks>
    public TimeSpan ProbeTimeout { get; set; } = TimeSpan.FromSeconds(5);

    internal ResourcePoolOptions ToOptions(string name, IServiceProvider? services)
    {
        var options = new ResourcePoolOptions
        {
            Name = name,
            MaxSize = MaxSize,
            MinSize = MinSize,
            MinIdle = MinIdle,
            MaxCreateConcurrency = MaxCreateConcurrency,
            MaxWaiters = MaxWaiters,
            RentTimeout = RentTimeout,
            CreateTimeout = CreateTimeout,
            PolicyTimeout = PolicyTimeout,
            ValidateAfterIdle = ValidateAfterIdle,
            MaxLifetime = MaxLifetime,
            LifetimeJitter = LifetimeJitter,
            KeepAliveInterval = KeepAliveInterval,
            ReuseOrder = ReuseOrder,
            ResetMode = ResetMode,
            BackoffMin = BackoffMin,
            BackoffMax = BackoffMax,
            LeakThreshold = LeakThreshold,
            LeakCapture = LeakCapture,
            ReclaimLeaks = ReclaimLeaks,
            TimeProvider = services?.GetService<TimeProvider>() ?? TimeProvider.System,
            MeterFactory = services?.GetService<IMeterFactory>(),
        };
        return IdleTimeout is { } idle ? options with { IdleTimeout = idle } : options;
    }

    /// <summary>Refuses what only the host reads.</summary>
    /// <exception cref="ArgumentException">A value is out of its range; the message names it, its value and the range.</exception>
    internal virtual void CheckHosted()
    {
        if (WarmUp is { } count && (count < 0 || count > MaxSize))
        {
            throw Refusal(nameof(WarmUp), count, $"0 to MaxSize ({MaxSize})");
        }

        CheckTime(ShutdownGrace, nameof(ShutdownGrace));
        CheckTime(ProbeTimeout, nameof(ProbeTimeout));
    }

    private static void CheckTime(TimeSpan time, string name)
    {
        if (time != Timeout.InfiniteTimeSpan && (time < TimeSpan.Zero || time.TotalMilliseconds >= uint.MaxValue - 1))
        {
            throw Refusal(name, time, $"0 ms to {uint.MaxValue - 1} ms, or Timeout.InfiniteTimeSpan");
        }
    }

    private protected static ArgumentException Refusal(string name, object value, string range) =>
        new($"{name} is {value}; allowed is {range}.");
}
