namespace Tidepool;

/// <summary>
/// The native library of this process: whether it is there, what it holds, and its settings. It is the same library for .NET and for
/// native code that links it, so budget and statistics cover both.
/// </summary>
/// <remarks>
/// Thread-safe. Every member but <see cref="IsAvailable"/> throws <see cref="DllNotFoundException"/> where the library is not there; the
/// message says where it was looked for and how it is built.
/// </remarks>
public static class TidepoolNative
{
    /// <summary>Whether the library is there. Loads it. Looks again each time until it is.</summary>
    public static bool IsAvailable => NativeLoader.TryLoad(out _, out _);

    /// <summary>The file that was loaded.</summary>
    public static string LibraryPath
    {
        get
        {
            NativeLoader.Load();
            return NativeLoader.LoadedPath!;
        }
    }

    /// <summary>Its version.</summary>
    public static Version Version
    {
        get
        {
            int version = NativeMethods.tp_version();
            return new Version(version / 10_000, version / 100 % 100, version % 100);
        }
    }

    /// <summary>
    /// Whether it is the checked library, which finds writes past the end and other misuse of native blocks. Every buffer of a
    /// <see cref="NativeSource{T}"/> is a block of its own then. Load it by naming its file in TIDEPOOL_NATIVE.
    /// </summary>
    public static bool IsChecked
    {
        get
        {
            NativeLoader.Load();
            return NativeLoader.IsChecked;
        }
    }

    /// <summary>
    /// The most bytes that the library may commit, for live and idle memory together; null for no limit. When it is used up, a rental
    /// that no tier serves throws <see cref="InsufficientMemoryException"/>, and nothing is killed. The environment variable
    /// TIDEPOOL_MEMORY_LIMIT sets it too.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is 0 or negative.</exception>
    public static long? Budget
    {
        get => NativeMethods.tp_get_option(tp_option.memory_limit) is > 0 and var limit ? limit : null;
        set
        {
            if (value is { } bytes)
            {
                ArgumentOutOfRangeException.ThrowIfNegativeOrZero(bytes, nameof(value));
            }

            Set(tp_option.memory_limit, value ?? 0);
        }
    }

    /// <summary>
    /// How long whole free pages stay with the library before they go back to the system; null: until <see cref="Trim"/>. The default is
    /// a second. A heap that needs them again soon afterwards keeps them longer the next times, 30 seconds at most.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or longer than 24 days.</exception>
    public static TimeSpan? PurgeDelay
    {
        get => NativeMethods.tp_get_option(tp_option.purge_delay_ms) is >= 0 and var delay ? TimeSpan.FromMilliseconds(delay) : null;
        set
        {
            if (value is { } delay)
            {
                ArgumentOutOfRangeException.ThrowIfLessThan(delay, TimeSpan.Zero, nameof(value));
                ArgumentOutOfRangeException.ThrowIfGreaterThan(delay, TimeSpan.FromMilliseconds(int.MaxValue), nameof(value));
            }

            Set(tp_option.purge_delay_ms, value is null ? -1 : (long)value.Value.TotalMilliseconds);
        }
    }

    /// <summary>Whether a thread of the library gives idle pages back while the program sleeps. The default is true.</summary>
    public static bool BackgroundPurge
    {
        get => NativeMethods.tp_get_option(tp_option.background_purge) != 0;
        set => Set(tp_option.background_purge, value ? 1 : 0);
    }

    /// <summary>
    /// Gives idle pages back to the system now. Buffers that wait in pools are in use for the library: trim the pools first.
    /// </summary>
    /// <param name="minIdle">Only what has been idle for that long; default for all.</param>
    /// <returns>The bytes given back.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minIdle"/> is negative or longer than 24 days.</exception>
    /// <remarks>Takes locks of the library in turn and calls the system.</remarks>
    public static long Trim(TimeSpan minIdle = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(minIdle, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minIdle, TimeSpan.FromMilliseconds(int.MaxValue));
        return (long)NativeMethods.tp_purge((uint)minIdle.TotalMilliseconds);
    }

    /// <summary>What the library holds. Takes the lock of every thread's heap in turn: for dashboards, not for loops.</summary>
    public static unsafe NativeStatistics GetStatistics()
    {
        var statistics = new tp_statistics { struct_size = (nuint)sizeof(tp_statistics) };
        NativeMethods.tp_get_statistics(&statistics);
        return new NativeStatistics(statistics);
    }

    private static void Set(tp_option option, long value)
    {
        int error = NativeMethods.tp_set_option(option, value);
        if (error != 0)
        {
            throw new InvalidOperationException($"The native library refused {option} = {value} (error {error}).");
        }
    }
}
