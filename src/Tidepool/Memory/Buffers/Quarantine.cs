using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// The full checks of a buffer pool: returned memory is filled with a pattern, rests in quarantine, and is verified before reuse.
/// </summary>
/// <remarks>Thread-safe. Elements that hold references are cleared instead of filled, and verified to be clear still.</remarks>
internal sealed class Quarantine<T>(bool allStacks)
{
    private const byte Pattern = 0xDD;
    private const int MaxResting = 64;
    private const long MaxRestingBytes = 1 << 20;

    private static readonly int Step = (1 << 30) / Unsafe.SizeOf<T>(); // a span of bytes holds less than 2^31

    private readonly Lock _gate = new();
    private readonly Queue<Resting> _resting = new();
    private long _restingBytes;

    internal long RestingBytes => Volatile.Read(ref _restingBytes);

    internal int RestingCount
    {
        get
        {
            lock (_gate)
            {
                return _resting.Count;
            }
        }
    }

    /// <summary>Takes the call sites of rentals.</summary>
    internal StackSampler Stacks { get; } = new(allStacks);

    internal static void Fill(Span<T> buffer)
    {
        if (BufferPoolSettings<T>.HoldsReferences)
        {
            buffer.Clear();
        }
        else
        {
            while (buffer.Length > 0)
            {
                int count = Math.Min(Step, buffer.Length);
                BytesOf(buffer[..count]).Fill(Pattern);
                buffer = buffer[count..];
            }
        }
    }

    /// <summary>The first element that is not as <see cref="Fill"/> left it, or -1.</summary>
    internal static int FindDamage(Span<T> buffer)
    {
        if (!BufferPoolSettings<T>.HoldsReferences)
        {
            for (int start = 0; start < buffer.Length;)
            {
                int count = Math.Min(Step, buffer.Length - start);
                int place = BytesOf(buffer.Slice(start, count)).IndexOfAnyExcept(Pattern);
                if (place >= 0)
                {
                    return start + (place / Unsafe.SizeOf<T>());
                }

                start += count; // at most the length: nothing overflows at the longest one
            }

            return -1;
        }

        for (int i = 0; i < buffer.Length; i++)
        {
            if (!EqualityComparer<T>.Default.Equals(buffer[i], default))
            {
                return i;
            }
        }

        return -1;
    }

    /// <summary>Whether more rests than should.</summary>
    internal bool IsCrowded => _resting.Count > MaxResting || (RestingBytes > MaxRestingBytes && _resting.Count > 1);

    /// <summary>Lets an item rest.</summary>
    /// <returns>The item that has rested longest, when there are too many; one too large to rest at once.</returns>
    internal object? Rest(object item, long bytes)
    {
        if (bytes > MaxRestingBytes)
        {
            return item;
        }

        lock (_gate)
        {
            _resting.Enqueue(new(item, bytes));
            _restingBytes += bytes;
            return IsCrowded ? Wake() : null;
        }
    }

    /// <summary>Takes the item that has rested longest.</summary>
    internal object? TryWake()
    {
        lock (_gate)
        {
            return _resting.Count == 0 ? null : Wake();
        }
    }

    private object Wake()
    {
        Resting first = _resting.Dequeue();
        _restingBytes -= first.Bytes;
        return first.Item;
    }

    internal List<object> Snapshot()
    {
        lock (_gate)
        {
            return _resting.Select(static r => r.Item).ToList();
        }
    }

    private static unsafe Span<byte> BytesOf(Span<T> buffer)
    {
        ref byte first = ref Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(buffer));
        return MemoryMarshal.CreateSpan(ref first, checked(buffer.Length * Unsafe.SizeOf<T>()));
    }

    private readonly struct Resting(object item, long bytes)
    {
        internal object Item { get; } = item;

        internal long Bytes { get; } = bytes;
    }
}
