namespace Tidepool;

/// <summary>The checked options of one pool: times in milliseconds, <see cref="Forever"/> for those that are switched off.</summary>
internal sealed class ResourceSettings
{
    internal const long Forever = long.MaxValue;
    private const long Longest = uint.MaxValue - 1; // what a timer takes

    private static int s_count;

    internal required string Name { get; init; }

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

    internal required bool LeakReclaim { get; init; }

    internal required int MinIdle { get; init; }

    /// <summary>Checks every option.</summary>
    /// <exception cref="ArgumentException">One is wrong; the message names it, its value and the range.</exception>
    internal static ResourceSettings Of<T>(ResourcePoolOptions<T> options)
        where T : class
    {
        CheckSizes(options.MinSize, options.MaxSize, nameof(options.MinSize), nameof(options.MaxSize));
        Check(options.MinIdle >= 0 && options.MinIdle <= options.MaxSize, nameof(options.MinIdle), options.MinIdle, $"0 to MaxSize ({options.MaxSize})");
        Check(options.MaxCreateConcurrency >= 1, nameof(options.MaxCreateConcurrency), options.MaxCreateConcurrency, "1 or more");
        Check(options.MaxWaiters >= 1, nameof(options.MaxWaiters), options.MaxWaiters, "1 or more");
        Check(options.LifetimeJitter is >= 0 and <= 1, nameof(options.LifetimeJitter), options.LifetimeJitter, "0 to 1");
        Check(Enum.IsDefined(options.ReuseOrder), nameof(options.ReuseOrder), options.ReuseOrder, "a value of ReuseOrder");
        Check(Enum.IsDefined(options.ResetMode), nameof(options.ResetMode), options.ResetMode, "a value of ResetMode");
        Check(Enum.IsDefined(options.LeakCapture), nameof(options.LeakCapture), options.LeakCapture, "a value of LeakCapture");
        ArgumentNullException.ThrowIfNull(options.TimeProvider);
        long least = Milliseconds(options.BackoffMin, nameof(options.BackoffMin), 1);
        long most = Milliseconds(options.BackoffMax, nameof(options.BackoffMax), 1);
        Check(most != Forever && most >= least, nameof(options.BackoffMax), options.BackoffMax, $"BackoffMin ({options.BackoffMin}) or more, and not infinite");
        return new ResourceSettings
        {
            Name = options.Name ?? $"{typeof(T).Name} {Interlocked.Increment(ref s_count)}",
            MaxCreateConcurrency = options.MaxCreateConcurrency,
            MaxWaiters = options.MaxWaiters,
            RentTimeout = Milliseconds(options.RentTimeout, nameof(options.RentTimeout), 0),
            CreateTimeout = Milliseconds(options.CreateTimeout, nameof(options.CreateTimeout), 1),
            PolicyTimeout = Milliseconds(options.PolicyTimeout, nameof(options.PolicyTimeout), 1),
            ValidateAfterIdle = Milliseconds(options.ValidateAfterIdle, nameof(options.ValidateAfterIdle), 0),
            IdleTimeout = Milliseconds(options.IdleTimeout, nameof(options.IdleTimeout), 1),
            MaxLifetime = Milliseconds(options.MaxLifetime, nameof(options.MaxLifetime), 1),
            LifetimeJitter = options.LifetimeJitter,
            KeepAliveInterval = Milliseconds(options.KeepAliveInterval, nameof(options.KeepAliveInterval), 1),
            TakesOldest = options.ReuseOrder == ReuseOrder.FirstIn,
            ResetMode = options.ResetMode,
            BackoffMin = least,
            BackoffMax = most,
            LeakThreshold = Milliseconds(options.LeakThreshold, nameof(options.LeakThreshold), 1),
            LeakCapture = options.LeakCapture,
            LeakReclaim = options.LeakReclaim,
            MinIdle = options.MinIdle,
        };
    }

    internal static void CheckSizes(int min, int max, string minName, string maxName)
    {
        Check(max >= 1, maxName, max, "1 or more");
        Check(min >= 0 && min <= max, minName, min, $"0 to {maxName} ({max})");
    }

    /// <summary>A time in milliseconds, rounded up.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is negative (and not infinite), below the least, or longer than a timer can wait.</exception>
    internal static long Milliseconds(TimeSpan time, string name, int least)
    {
        if (time == Timeout.InfiniteTimeSpan)
        {
            return Forever;
        }

        if (time.Ticks < least * TimeSpan.TicksPerMillisecond || time.Ticks >= Longest * TimeSpan.TicksPerMillisecond)
        {
            Check(false, name, time, $"{least} ms to {Longest} ms, or Timeout.InfiniteTimeSpan");
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

    /// <summary>A moment after another one; never overflows.</summary>
    internal static long After(long now, long milliseconds) => milliseconds == Forever ? Forever : now + milliseconds;

    private static void Check(bool isGood, string name, object value, string range)
    {
        if (!isGood)
        {
            throw new ArgumentOutOfRangeException(name, value, $"{name} is {value}; allowed is {range}.");
        }
    }
}
