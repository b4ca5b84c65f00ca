using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Capacity: a number that follows the rule of <see cref="MemoryStream"/>, whatever is rented.</content>
internal sealed partial class StreamCore
{
    private const int FirstCapacity = 256; // of MemoryStream, when it grows to less

    private long _capacity;

    /// <summary>What <see cref="MemoryStream.Capacity"/> would say. The rented memory may be less or more.</summary>
    /// <remarks>
    /// The first bytes of a fresh stream are written without saying so: its window is as wide as the first growth makes it from the
    /// beginning. Until the window changes, what was written tells whether it has grown.
    /// </remarks>
    internal long Capacity
    {
        get => _capacity == 0 && DataEnd > First ? Math.Min(FirstCapacity, MaxLength) : _capacity;
        set => _capacity = value;
    }

    /// <summary>Makes a fresh core one with room for <paramref name="capacity"/> bytes, as soon as they are written.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void UseCapacity(int capacity)
    {
        _capacity = capacity;
        if (capacity > 0 && Current == 0)
        {
            WriteEnd = Math.Min(capacity, AttachedLength);
        }
    }

    /// <summary>The capacity that <see cref="MemoryStream"/> would have after growing to <paramref name="end"/>.</summary>
    /// <exception cref="NotSupportedException">The stream is over the caller's memory.</exception>
    /// <exception cref="IOException">The stream may not be that long.</exception>
    internal long CheckGrowth(long end)
    {
        if (end <= Capacity)
        {
            return Capacity;
        }

        if (!IsExpandable)
        {
            throw Origin + end > int.MaxValue
                ? new IOException($"The stream would be {end} bytes long; over an array it can have at most {int.MaxValue}.")
                : new NotSupportedException("The stream is over memory of the caller and cannot grow.");
        }

        if (end > MaxLength)
        {
            throw new IOException(
                $"The stream would be {end} bytes long; its "
                    + $"{nameof(PooledMemoryStreamOptions)}.{nameof(PooledMemoryStreamOptions.MaxLength)} is {MaxLength} bytes.");
        }

        long doubled = Capacity * 2;
        long capacity = Math.Max(Math.Max(end, FirstCapacity), doubled);
        if (doubled > System.Array.MaxLength)
        {
            capacity = Math.Max(end, System.Array.MaxLength);
        }

        return Math.Min(capacity, MaxLength);
    }

    /// <summary>Sets the capacity of a small stream that keeps its attached segment.</summary>
    /// <returns>False when the value is refused or more has to be done.</returns>
    internal bool TrySetCapacity(long value)
    {
        if (!IsSmall || value <= 0 || value < Length || value > MaxLength)
        {
            return false;
        }

        _handedLength = 0;
        _capacity = value;
        WriteEnd = (int)Math.Min(value, AttachedLength);
        return true;
    }

    /// <summary>Sets the capacity, which is not below the length. Segments that lie wholly behind it are returned.</summary>
    internal void SetCapacity(long value)
    {
        long position = Position;
        Leave(position);
        Capacity = value;
        ReturnBehind(Math.Max(value, StoredLength));
        MoveTo(position);
    }
}
