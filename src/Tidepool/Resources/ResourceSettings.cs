using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Checks the options of one pool and holds them: times in milliseconds, <see cref="NoLimit"/> for those switched off.</summary>
/// <remarks>The only place that reads them: a wrong one throws, and the message names it, its value and the range.</remarks>
internal sealed class ResourceSettings(ResourcePoolOptions options)
{
    internal const long NoLimit = long.MaxValue;
    private const long Longest = uint.MaxValue - 1; // what a timer takes
    private const string Parameter = nameof(options);
    private const long ResetPendingFor = 1000; // how long a resource stays idle whose reset is still to be done

    private static readonly TimeSpan LongestIdle = TimeSpan.FromMinutes(5);

    internal string? Name { get; } = PoolName.Check(options.Name, Parameter);

    internal int MaxSize { get; } = AtLeastOne(options.MaxSize, nameof(options.MaxSize));

    internal int MinSize { get; } = UpToMaxSize(options.MinSize, nameof(options.MinSize), options);

    internal int MinIdle { get; } = UpToMaxSize(options.MinIdle, nameof(options.MinIdle), options);

    internal int MaxCreateConcurrency { get; } = AtLeastOne(options.MaxCreateConcurrency, nameof(options.MaxCreateConcurrency));

    internal int MaxWaiters { get; } = AtLeastOne(options.MaxWaiters, nameof(options.MaxWaiters));

    internal long RentTimeout { get; } = Milliseconds(options.RentTimeout, nameof(options.RentTimeout), 0, Parameter);

    internal long CreateTimeout { get; } = Milliseconds(options.CreateTimeout, nameof(options.CreateTimeout), 1, Parameter);

    internal long PolicyTimeout { get; } = Milliseconds(options.PolicyTimeout, nameof(options.PolicyTimeout), 1, Parameter);

    internal long ValidateAfterIdle { get; } = Milliseconds(options.ValidateAfterIdle, nameof(options.ValidateAfterIdle), 0, Parameter);

    internal long MaxLifetime { get; } = Milliseconds(options.MaxLifetime, nameof(options.MaxLifetime), 1, Parameter);

    internal long IdleTimeout { get; } = IdleTimeoutOf(options);

    internal double LifetimeJitter { get; } = options.LifetimeJitter is >= 0 and <= 1
        ? options.LifetimeJitter
        : throw Refusal(nameof(options.LifetimeJitter), options.LifetimeJitter, "0 to 1", Parameter);

    private long KeepAliveInterval { get; } = Milliseconds(options.KeepAliveInterval, nameof(options.KeepAliveInterval), 1, Parameter);

    internal bool TakesOldest { get; } = Defined(options.ReuseOrder, nameof(options.ReuseOrder)) == ReuseOrder.FirstIn;

    internal ResetMode ResetMode { get; } = Defined(options.ResetMode, nameof(options.ResetMode));

    internal long BackoffMin { get; } = Milliseconds(options.BackoffMin, nameof(options.BackoffMin), 1, Parameter);

    internal long BackoffMax { get; } = BackoffMaxOf(options);

    internal long LeakThreshold { get; } = Milliseconds(options.LeakThreshold, nameof(options.LeakThreshold), 1, Parameter);

    internal LeakCapture LeakCapture { get; } = Defined(options.LeakCapture, nameof(options.LeakCapture));

    internal bool ReclaimLeaks { get; } = options.ReclaimLeaks;

    internal TimeProvider TimeProvider { get; } = Given(options.TimeProvider, nameof(options.TimeProvider), "a clock", Parameter);

    internal Func<double> NextRandom { get; } = options.NextRandom;

    internal Action<IThreadPoolWorkItem>? Executor { get; } = options.Executor;

    /// <summary>What the list of live pools calls the pool, which has no keys.</summary>
    internal PoolKind Kind { get; } = options.MeterNames == MeterNames.Connections ? PoolKind.Connections : PoolKind.Resources;

    /// <summary>Made last, when no option is refused any more.</summary>
    internal ResourceMeter Meter { get; } = ResourceMeter.Of(options.MeterFactory, options.MeterNames);

    /// <summary>Whether no option must see each rental and return, or all idle resources.</summary>
    internal bool AllowsHot => !TakesOldest && MinIdle == 0 && LeakCapture == LeakCapture.None && !ReclaimLeaks && LeakThreshold == NoLimit;

    /// <summary>How long a resource stays idle until it is kept alive, in milliseconds.</summary>
    /// <param name="hasResetPending">Whether that completes its reset.</param>
    internal long KeepAliveAfter(bool hasResetPending) =>
        hasResetPending ? Math.Min(KeepAliveInterval, ResetPendingFor) : KeepAliveInterval;

    /// <summary>The default of <c>IdleTimeout</c>: five minutes, or the lifetime where that is shorter.</summary>
    internal static TimeSpan DefaultIdleTimeout(TimeSpan lifetime) =>
        lifetime > TimeSpan.Zero && lifetime < LongestIdle ? lifetime : LongestIdle;

    /// <summary>Checks two sizes.</summary>
    /// <param name="min">The smaller one.</param>
    /// <param name="max">The larger one.</param>
    /// <exception cref="ArgumentOutOfRangeException">One is wrong; the message names it, its value and the range.</exception>
    internal static void CheckSizes(int min, int max)
    {
        AtLeastOne(max, nameof(max), null);
        UpTo(min, nameof(min), max, nameof(max), null);
    }

    /// <summary>Refuses a number below 1.</summary>
    /// <param name="value">The number.</param>
    /// <param name="name">What it is called.</param>
    /// <param name="parameter">The caller's parameter that has it; null where it is a parameter itself.</param>
    internal static int AtLeastOne(int value, string name, string? parameter = Parameter) =>
        value >= 1 ? value : throw Refusal(name, value, "1 or more", parameter);

    /// <summary>Refuses null where an option has no default to stand in.</summary>
    /// <exception cref="ArgumentNullException">The value is null; the message names the option and what is allowed.</exception>
    internal static TValue Given<TValue>(TValue? value, string name, string allowed, string parameter)
        where TValue : class =>
        value ?? throw new ArgumentNullException(parameter, $"{name} is null; allowed is {allowed}.");

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
            throw Refusal(name, time, $"{least} ms to {Longest} ms, or Timeout.InfiniteTimeSpan", parameter);
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
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static long After(long now, long milliseconds) => milliseconds == NoLimit ? NoLimit : now + milliseconds;

    private static int UpToMaxSize(int value, string name, ResourcePoolOptions options) =>
        UpTo(value, name, options.MaxSize, nameof(options.MaxSize), Parameter);

    private static int UpTo(int value, string name, int max, string maxName, string? parameter) =>
        value >= 0 && value <= max ? value : throw Refusal(name, value, $"0 to {maxName} ({max})", parameter);

    private static TEnum Defined<TEnum>(TEnum value, string name)
        where TEnum : struct, Enum =>
        Enum.IsDefined(value) ? value : throw Refusal(name, value, $"a value of {typeof(TEnum).Name}", Parameter);

    private static long IdleTimeoutOf(ResourcePoolOptions options)
    {
        long idle = Milliseconds(options.IdleTimeout, nameof(options.IdleTimeout), 1, Parameter);
        long lifetime = Milliseconds(options.MaxLifetime, nameof(options.MaxLifetime), 1, Parameter);
        string range = $"up to MaxLifetime ({options.MaxLifetime}), or Timeout.InfiniteTimeSpan";
        return idle == NoLimit || idle <= lifetime
            ? idle
            : throw Refusal(nameof(options.IdleTimeout), options.IdleTimeout, range, Parameter);
    }

    private static long BackoffMaxOf(ResourcePoolOptions options)
    {
        long max = Milliseconds(options.BackoffMax, nameof(options.BackoffMax), 1, Parameter);
        long min = Milliseconds(options.BackoffMin, nameof(options.BackoffMin), 1, Parameter);
        string range = $"BackoffMin ({options.BackoffMin}) or more, and not infinite";
        return max != NoLimit && max >= min ? max : throw Refusal(nameof(options.BackoffMax), options.BackoffMax, range, Parameter);
    }

    private static ArgumentOutOfRangeException Refusal(string name, object value, string range, string? parameter) =>
        new(parameter ?? name, value, $"{name} is {value}; allowed is {range}.");
}
