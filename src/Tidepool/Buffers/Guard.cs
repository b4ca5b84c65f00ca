using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>The full checks of a buffer pool: returned memory is filled with a pattern, rests in quarantine, and is verified before reuse.</summary>
/// <remarks>Thread-safe. Elements that hold references are cleared instead of filled, and verified to be clear still.</remarks>
internal sealed class Guard<T>
{
    private const byte Pattern = 0xDD;
    private const int MaxResting = 64;
    private const long MaxRestingBytes = 1 << 20;
    private const int StackSampling = 64;

    private readonly Lock _gate = new();
    private readonly Queue<object> _resting = new();
    private readonly bool _allStacks;
    private long _restingBytes;
    private int _rentals;

    internal Guard(bool allStacks) => _allStacks = allStacks;

    internal long RestingBytes => Volatile.Read(ref _restingBytes);

    /// <summary>The call site of this rental or return if it is one of those recorded.</summary>
    internal string? SampleStack() =>
        _allStacks || (Interlocked.Increment(ref _rentals) - 1) % StackSampling == 0 ? RentalRecord.CaptureStack() : null;

    internal static void Fill(Span<T> buffer)
    {
        if (BufferGeometry<T>.HoldsReferences)
        {
            buffer.Clear();
        }
        else
        {
            BytesOf(buffer).Fill(Pattern);
        }
    }

    /// <summary>The first element that is not as <see cref="Fill"/> left it, or -1.</summary>
    internal static int FindDamage(Span<T> buffer)
    {
        if (!BufferGeometry<T>.HoldsReferences)
        {
            int place = BytesOf(buffer).IndexOfAnyExcept(Pattern);
            return place < 0 ? -1 : place / System.Runtime.CompilerServices.Unsafe.SizeOf<T>();
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

    /// <summary>Lets an item rest; those that have rested longest come out when there are too many.</summary>
    internal void Rest(object item, long bytes, Func<object, long> bytesOf, List<object> rested)
    {
        lock (_gate)
        {
            _resting.Enqueue(item);
            _restingBytes += bytes;
            while (_resting.Count > MaxResting || (_restingBytes > MaxRestingBytes && _resting.Count > 1))
            {
                object first = _resting.Dequeue();
                _restingBytes -= bytesOf(first);
                rested.Add(first);
            }
        }
    }

    /// <summary>Ends every rest.</summary>
    internal List<object> Release()
    {
        lock (_gate)
        {
            var all = _resting.ToList();
            _resting.Clear();
            _restingBytes = 0;
            return all;
        }
    }

    internal List<object> Snapshot()
    {
        lock (_gate)
        {
            return _resting.ToList();
        }
    }

    private static unsafe Span<byte> BytesOf(Span<T> buffer)
    {
        ref byte first = ref System.Runtime.CompilerServices.Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(buffer));
        return MemoryMarshal.CreateSpan(ref first, checked(buffer.Length * System.Runtime.CompilerServices.Unsafe.SizeOf<T>()));
    }
}
