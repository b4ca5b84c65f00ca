using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <summary>The checked options of one pool: times in milliseconds, <see cref="NoLimit"/> for those that are switched off.</summary>
internal sealed class ResourceSettings
{
    internal const long NoLimit = long.MaxValue;
    private const long Longest = uint.MaxValue - 1; // what a timer takes

    private static readonly TimeSpan LongestIdle = TimeSpan.FromMinutes(5);

    internal required string? Name { get; init; }

    internal required int MinSize { get; init; }

    internal required int MaxSize { get; init; }

    internal required int MinIdle { get; init; }

    internal required int MaxCreateConcurrency { get; init; }

    internal required int MaxWaiters { get; init; }

    internal required long RentTimeout { get; init; }

    internal required long CreateTimeout { get; init; }

    internal required long PolicyTimeout { get; init; }

    internal required long ValidateAfterIdle { get; init; }

    internal required long IdleTimeout { get; init; }

    internal required long MaxLifetime { get; init; }

    internal required double LifetimeJitter { get; init; }

    internal required long KeepAliveInterval { get; init; }

    internal required bool TakesOldest { get; init; }

    internal required ResetMode ResetMode { get; init; }

    internal required long BackoffMin { get; init; }

    internal required long BackoffMax { get; init; }

    internal required long LeakThreshold { get; init; }

    internal required LeakCapture LeakCapture { get; init; }

    internal required bool ReclaimLeaks { get; init; }

    internal required TimeProvider TimeProvider { get; init; }

    internal required ResourceMeter Meter { get; init; }

    internal required Func<double> NextRandom { get; init; }

    internal required Action<IThreadPoolWorkItem>? Executor { get; init; }

    /// <summary>Whether no option must see each rental and return, or all idle resources.</summary>
    internal bool AllowsHot => !TakesOldest && MinIdle == 0 && LeakCapture == LeakCapture.None && !ReclaimLeaks && LeakThreshold == NoLimit;

    /// <summary>Checks every option: the only place that reads them.</summary>
    /// <exception cref="ArgumentException">One is wrong; the message names it, its value and the range.</exception>
    internal static ResourceSettings Of(ResourcePoolOptions options)
    {
        PoolName.Check(options.Name, nameof(options));
        CheckSizes(options.MinSize, options.MaxSize, nameof(options.MinSize), nameof(options.MaxSize), nameof(options));
        bool isIdleGood = options.MinIdle >= 0 && options.MinIdle <= options.MaxSize;
        Check(isIdleGood, nameof(options.MinIdle), options.MinIdle, $"0 to MaxSize ({options.MaxSize})", nameof(options));
        int creations = options.MaxCreateConcurrency;
        Check(creations >= 1, nameof(options.MaxCreateConcurrency), creations, "1 or more", nameof(options));
        Check(options.MaxWaiters >= 1, nameof(options.MaxWaiters), options.MaxWaiters, "1 or more", nameof(options));
        Check(options.LifetimeJitter is >= 0 and <= 1, nameof(options.LifetimeJitter), options.LifetimeJitter, "0 to 1", nameof(options));
        Check(Enum.IsDefined(options.ReuseOrder), nameof(options.ReuseOrder), options.ReuseOrder, "a value of ReuseOrder", nameof(options));
        Check(Enum.IsDefined(options.ResetMode), nameof(options.ResetMode), options.ResetMode, "a value of ResetMode", nameof(options));
        LeakCapture capture = options.LeakCapture;
        Check(Enum.IsDefined(capture), nameof(options.LeakCapture), capture, "a value of LeakCapture", nameof(options));
        CheckGiven(options.TimeProvider, nameof(options.TimeProvider), "a clock", nameof(options));
        long least = Milliseconds(options.BackoffMin, nameof(options.BackoffMin), 1, nameof(options));
        long most = Milliseconds(options.BackoffMax, nameof(options.BackoffMax), 1, nameof(options));
        string pauses = $"BackoffMin ({options.BackoffMin}) or more, and not infinite";
        Check(most != NoLimit && most >= least, nameof(options.BackoffMax), options.BackoffMax, pauses, nameof(options));
        long idle = Milliseconds(options.IdleTimeout, nameof(options.IdleTimeout), 1, nameof(options));
        long lifetime = Milliseconds(options.MaxLifetime, nameof(options.MaxLifetime), 1, nameof(options));
        string upTo = $"up to MaxLifetime ({options.MaxLifetime}), or Timeout.InfiniteTimeSpan";
        Check(idle == NoLimit || idle <= lifetime, nameof(options.IdleTimeout), options.IdleTimeout, upTo, nameof(options));
        return new ResourceSettings
        {
            Name = options.Name,
            MinSize = options.MinSize,
            MaxSize = options.MaxSize,
            MinIdle = options.MinIdle,
            MaxCreateConcurrency = options.MaxCreateConcurrency,
            MaxWaiters = options.MaxWaiters,
            RentTimeout = Milliseconds(options.RentTimeout, nameof(options.RentTimeout), 0, nameof(options)),
            CreateTimeout = Milliseconds(options.CreateTimeout, nameof(options.CreateTimeout), 1, nameof(options)),
            PolicyTimeout = Milliseconds(options.PolicyTimeout, nameof(options.PolicyTimeout), 1, nameof(options)),
            ValidateAfterIdle = Milliseconds(options.ValidateAfterIdle, nameof(options.ValidateAfterIdle), 0, nameof(options)),
            IdleTimeout = idle,
            MaxLifetime = lifetime,
            LifetimeJitter = options.LifetimeJitter,
            KeepAliveInterval = Milliseconds(options.KeepAliveInterval, nameof(options.KeepAliveInterval), 1, nameof(options)),
            TakesOldest = options.ReuseOrder == ReuseOrder.FirstIn,
            ResetMode = options.ResetMode,
            BackoffMin = least,
            BackoffMax = most,
            LeakThreshold = Milliseconds(options.LeakThreshold, nameof(options.LeakThreshold), 1, nameof(options)),
            LeakCapture = options.LeakCapture,
            ReclaimLeaks = options.ReclaimLeaks,
            TimeProvider = options.TimeProvider,
            Meter = ResourceMeter.Of(options.MeterFactory, options.MeterNames),
            NextRandom = options.NextRandom,
            Executor = options.Executor,
        };
    }

    /// <summary>The default of <c>IdleTimeout</c>: five minutes, or the lifetime where that is shorter.</summary>
    internal static TimeSpan DefaultIdleTimeout(TimeSpan lifetime) =>
        lifetime > TimeSpan.Zero && lifetime < LongestIdle ? lifetime : LongestIdle;

    /// <summary>Checks two sizes.</summary>
    /// <param name="min">The smaller one.</param>
    /// <param name="max">The larger one.</param>
    /// <param name="minName">What the smaller one is called.</param>
    /// <param name="maxName">What the larger one is called.</param>
    /// <param name="parameter">The caller's parameter that has them; null where they are parameters themselves.</param>
    /// <exception cref="ArgumentOutOfRangeException">One is wrong; the message names it, its value and the range.</exception>
    internal static void CheckSizes(int min, int max, string minName, string maxName, string? parameter = null)
    {
        Check(max >= 1, maxName, max, "1 or more", parameter);
        Check(min >= 0 && min <= max, minName, min, $"0 to {maxName} ({max})", parameter);
    }

    /// <summary>Refuses null where an option has no default to stand in.</summary>
    /// <exception cref="ArgumentNullException">The value is null; the message names the option and what is allowed.</exception>
    internal static void CheckGiven([NotNull] object? value, string name, string allowed, string parameter)
    {
        if (value is null)
        {
            throw new ArgumentNullException(parameter, $"{name} is null; allowed is {allowed}.");
        }
    }

    /// <summary>A time in milliseconds, rounded up.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is negative (and not infinite), below the least, or longer than a timer can
    /// wait.</exception>
    internal static long Milliseconds(TimeSpan time, string name, int least, string? parameter = null)
    {
        if (time == Timeout.InfiniteTimeSpan)
        {
            return NoLimit;
        }

        if (time.Ticks < least * TimeSpan.TicksPerMillisecond || time.Ticks >= Longest * TimeSpan.TicksPerMillisecond)
        {
            Check(false, name, time, $"{least} ms to {Longest} ms, or Timeout.InfiniteTimeSpan", parameter);
        }

        return (time.Ticks + TimeSpan.TicksPerMillisecond - 1) / TimeSpan.TicksPerMillisecond;
    }

    /// <summary>Whether a timeout of a rental is one.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is negative (and not infinite), or longer than a timer can wait.</exception>
    internal static void Check(TimeSpan timeout)
    {
        if ((ulong)timeout.Ticks >= (ulong)Longest * TimeSpan.TicksPerMillisecond)
        {
            Milliseconds(timeout, nameof(timeout), 0);
        }
    }

    /// <summary>A time that may be switched off, as the platform has it.</summary>
    internal static TimeSpan TimeOf(long milliseconds) =>
        milliseconds == NoLimit ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(milliseconds);

    /// <summary>A moment after another one; never overflows.</summary>
    internal static long After(long now, long milliseconds) => milliseconds == NoLimit ? NoLimit : now + milliseconds;

    private static void Check(bool isGood, string name, object value, string range, string? parameter)
    {
        if (!isGood)
        {
            throw new ArgumentOutOfRangeException(parameter ?? name, value, $"{name} is {value}; allowed is {range}.");
        }
    }
}
