using System.Numerics;

namespace Tidepool;

/// <summary>
/// 64 KiB of native memory, carved into cells of one size: one call of the library for many buffers. Used under its class's lock.
/// </summary>
internal sealed class NativeSlab
{
    internal const int Bytes = 1 << 16;

    internal readonly NativeSlabClass Class;

    private readonly nint _start;
    private readonly ulong[] _free;

    internal NativeSlab(NativeSlabClass @class, nint start)
    {
        Class = @class;
        _start = start;
        Count = Bytes / @class.CellBytes;
        _free = new ulong[(Count + 63) / 64];
        for (int cell = 0; cell < Count; cell++)
        {
            _free[cell / 64] |= 1UL << (cell % 64);
        }
    }

    /// <summary>How many cells it has.</summary>
    internal int Count { get; }

    /// <summary>How many of them are buffers now.</summary>
    internal int Used { get; private set; }

    /// <summary>Its place in its class's list of slabs with free cells, or -1.</summary>
    internal int Index { get; set; } = -1;

    internal nint Start => _start;

    /// <summary>A free cell, the lowest, so that what is untouched stays untouched. There must be one.</summary>
    internal nint Take()
    {
        int word = 0;
        while (_free[word] == 0)
        {
            word++;
        }

        int bit = BitOperations.TrailingZeroCount(_free[word]);
        _free[word] &= _free[word] - 1;
        Used++;
        return _start + (((word * 64) + bit) * Class.CellBytes);
    }

    /// <summary>Takes a cell back.</summary>
    /// <returns>False when the address is no cell of this slab that is in use.</returns>
    internal bool TryPut(nint address)
    {
        (long cell, long rest) = Math.DivRem(address - _start, (long)Class.CellBytes);
        if (rest != 0 || cell < 0 || cell >= Count || (_free[cell / 64] & (1UL << (int)(cell % 64))) != 0)
        {
            return false;
        }

        _free[cell / 64] |= 1UL << (int)(cell % 64);
        Used--;
        return true;
    }

    /// <summary>The count and the map of free cells agree.</summary>
    internal bool IsValid() => Used == Count - _free.Sum(BitOperations.PopCount) && Used >= 0;
}
