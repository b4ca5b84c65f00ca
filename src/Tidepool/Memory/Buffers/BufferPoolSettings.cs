using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>The options of a buffer pool, checked, and with its defaults in place of what is not given.</summary>
internal sealed class BufferPoolSettings<T>
{
    private readonly BufferPoolOptions<T> _options;

    internal BufferPoolSettings(BufferPoolOptions<T> options)
    {
        _options = options;
        Check(options);
        Source = options.Source ?? HeapSource<T>.Instance;
        Sizes = options.Sizes ?? SizeClasses.Default;
        MaxLength = Math.Min(options.MaxLength, Source.MaxLength);
        Budget = options.SharedBudget ?? (options.Budget is { } limit ? new Budget(limit, Budget.Process) : Budget.Process);
        Checks = options.Checks ?? ProcessChecks.Mode;
        CaptureStacks = options.CaptureStacks || (options.Checks is null && ProcessChecks.Stacks);
        Name = PoolName.Take(options.Name, TypeName.Of<T>());
    }

    /// <summary>Refuses options that are out of range, before anything is made.</summary>
    internal static void Check(BufferPoolOptions<T> options)
    {
        PoolName.Check(options.Name, nameof(options));
        BufferSource<T> source = options.Source ?? HeapSource<T>.Instance;
        PoolOption.Check(options.Budget is null or >= 0, options.Budget, "Budget must be 0 bytes or more.");
        PoolOption.Check(
            options.MaxLength >= 1 && options.MaxLength <= Array.MaxLength,
            options.MaxLength,
            $"MaxLength must be 1 to {Array.MaxLength} elements.");
        PoolOption.Check(
            options.Clear is >= ClearMode.Never and <= ClearMode.OnReturn, (int)options.Clear, "Clear must be Never, OnRent or OnReturn.");
        PoolOption.CheckCommon(options.LeakSampling, options.Checks);
        if (options.Alignment != 0)
        {
            int most = source.MaxAlignment;
            bool isPossible = BitOperations.IsPow2(options.Alignment) && options.Alignment <= most;
            PoolOption.Check(isPossible, options.Alignment, AlignmentText(most, options.Alignment));
        }

        if (source.Form == BufferForm.Native && HoldsReferences)
        {
            throw new NotSupportedException($"{typeof(T)} holds references, which native memory ({source.GetType().Name}) cannot.");
        }
    }

    internal PoolName Name { get; }

    internal BufferSource<T> Source { get; }

    internal SizeClasses Sizes { get; }

    internal Budget Budget { get; }

    internal PoolChecks Checks { get; }

    internal bool CaptureStacks { get; }

    internal ClearMode Clear => _options.Clear;

    internal bool Secrets => _options.Secrets;

    internal int Alignment => _options.Alignment;

    internal int MaxLength { get; }

    internal int LeakSampling => _options.LeakSampling;

    /// <summary>The longest buffer that the source makes, in elements.</summary>
    internal int LongestBuffer => Source.MaxLength;

    /// <summary>Whether buffers lie outside of the collector's heap.</summary>
    internal bool IsNative => Source.Form == BufferForm.Native;

    /// <summary>Whether buffers are whole arrays, so that they can be rented as arrays.</summary>
    internal bool HasWholeArrays => Source.Form == BufferForm.WholeArray && Alignment == 0;

    /// <summary>Whether an array made elsewhere is as good as one of the source's.</summary>
    internal bool TakesForeignArrays => Source is HeapSource<T>;

    /// <summary>Whether every rental must take the slow path, because something is done on each.</summary>
    internal bool IsAlwaysSlow => Checks == PoolChecks.Full || Secrets || Clear != ClearMode.Never;

    /// <summary>
    /// Whether a rental must be zeroed as it begins: it was not zeroed at its end, or full checks have filled it with a pattern.
    /// </summary>
    internal bool ClearsRentals => Clear == ClearMode.OnRent || (KeepsZeroed && Checks == PoolChecks.Full);

    /// <summary>Whether a new buffer must be zeroed: idle ones are, and a source may hand out what others left in its memory.</summary>
    internal bool ClearsNew => KeepsZeroed && !HoldsReferences;

    private bool KeepsZeroed => Secrets || Clear == ClearMode.OnReturn;

    /// <summary>
    /// The last class of <paramref name="sizes"/> that is kept: the one that serves <see cref="MaxLength"/>, or the one before it where
    /// the source makes nothing as long as that class; -1 for none.
    /// </summary>
    internal int LastIndexOf(SizeClasses sizes)
    {
        int index = sizes.IndexOf(MaxLength);
        index = index < 0 ? sizes.Count - 1 : index;
        return sizes.LengthOf(index) <= Source.MaxLength ? index : index - 1;
    }

    private static string AlignmentText(int most, int alignment) => most > 0
        ? $"Alignment must be 0 or a power of two up to {most} bytes, the most that this pool's source promises."
        : $"Alignment must be 0, because this pool's source aligns to the element and no "
            + $"further. For {alignment} bytes choose a Source that aligns: "
            + "SlabSource<T> or PinnedSource<T>, or NativeSource<T> of Tidepool.Native.";

    internal static bool HoldsReferences => RuntimeHelpers.IsReferenceOrContainsReferences<T>();

    internal static long BytesOf(long length) => length * Unsafe.SizeOf<T>();
}
