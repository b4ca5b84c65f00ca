namespace Tidepool;

/// <summary>The slabs of one cell size and alignment. Thread-safe: one short lock for each buffer made or freed.</summary>
internal sealed unsafe class NativeSlabClass(int cellBytes, int alignment)
{
    private readonly Lock _gate = new();
    private readonly List<NativeSlab> _open = []; // those with a free cell

    internal int CellBytes => cellBytes;

    /// <summary>The slabs that exist.</summary>
    internal int SlabCount { get; private set; }

    /// <summary>A cell and the slab it lies in.</summary>
    /// <exception cref="InsufficientMemoryException">The library has no memory left.</exception>
    internal (nint Address, NativeSlab Slab) Take()
    {
        lock (_gate)
        {
            NativeSlab slab = _open.Count > 0 ? _open[^1] : Make();
            nint address = slab.Take();
            if (slab.Used == slab.Count)
            {
                Close(slab);
            }

            return (address, slab);
        }
    }

    /// <summary>Takes a cell back; a slab whose last cell it was goes back to the library.</summary>
    /// <returns>False when the address is no cell of the slab that is in use.</returns>
    internal bool TryPut(NativeSlab slab, nint address)
    {
        lock (_gate)
        {
            if (!slab.TryPut(address))
            {
                return false;
            }

            if (slab.Index < 0)
            {
                Open(slab);
            }

            if (slab.Used > 0)
            {
                return true;
            }

            Close(slab);
            SlabCount--;
        }

        NativeMethods.tp_free((void*)slab.Start);
        NativePressure.Remove(NativeSlab.Bytes);
        return true;
    }

    /// <summary>Every slab with free cells is in order, and is where it says that it is.</summary>
    internal bool IsValid()
    {
        lock (_gate)
        {
            return _open.Count <= SlabCount
                && _open.TrueForAll(slab => slab.IsValid() && slab.Used > 0 && slab.Used < slab.Count && _open[slab.Index] == slab);
        }
    }

    private NativeSlab Make()
    {
        var slab = new NativeSlab(this, (nint)NativeSlabs.Allocate(NativeSlab.Bytes, (nuint)alignment));
        Open(slab);
        SlabCount++;
        NativePressure.Add(NativeSlab.Bytes);
        return slab;
    }

    private void Open(NativeSlab slab)
    {
        slab.Index = _open.Count;
        _open.Add(slab);
    }

    private void Close(NativeSlab slab)
    {
        NativeSlab last = _open[^1];
        _open[slab.Index] = last;
        last.Index = slab.Index;
        _open.RemoveAt(_open.Count - 1);
        slab.Index = -1;
    }
}
