using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Buffers carved from large pinned arrays (slabs), page-aligned where the element size allows: one allocation for many buffers, and none
/// of them ever moves. A slab is left to the garbage collector when all its buffers have been freed and no renter holds one.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
/// <remarks>Thread-safe; one short lock per buffer made or freed. Freed buffers are carved again before a new slab is made.</remarks>
public sealed class SlabSource<T> : BufferSource<T>
{
    private const int PageSize = 4096;

    private readonly Lock _gate = new();
    private readonly Dictionary<(int Length, int Alignment), List<Cell>> _free = [];
    private readonly int _slabBytes;

    /// <summary>Makes a source.</summary>
    /// <param name="slabBytes">The size of one slab in bytes, 64 KiB to 1 GiB. Buffers longer than a quarter of it get an array of their
    /// own.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="slabBytes"/> is out of range.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> holds references.</exception>
    public SlabSource(int slabBytes = 1 << 20)
    {
        if (slabBytes is < 1 << 16 or > 1 << 30)
        {
            throw new ArgumentOutOfRangeException(nameof(slabBytes), slabBytes, "A slab has 65,536 to 1,073,741,824 bytes.");
        }

        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            throw new NotSupportedException($"{typeof(T)} holds references; only types without references can live in pinned slabs.");
        }

        _slabBytes = slabBytes;
    }

    /// <inheritdoc/>
    public override BufferForm Form => BufferForm.ArrayPart;

    /// <inheritdoc/>
    public override int MaxAlignment => PageSize;

    /// <summary>The slabs that have a buffer in use or idle in a pool, and those with free cells.</summary>
    internal int SlabCount { get; private set; }

    /// <inheritdoc/>
    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(length, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(alignment);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(alignment, MaxAlignment);
        int size = Unsafe.SizeOf<T>();
        long bytes = (long)length * size;
        if (bytes > _slabBytes / 4)
        {
            return AlignedArray.Allocate<T>(length, alignment);
        }

        lock (_gate)
        {
            if (!_free.TryGetValue((length, alignment), out List<Cell>? cells))
            {
                _free.Add((length, alignment), cells = []);
            }

            if (cells.Count == 0)
            {
                Carve(cells, length, alignment);
            }

            Cell cell = cells[^1];
            cells.RemoveAt(cells.Count - 1);
            cell.Slab.Used++;
            return new SourceBuffer<T>(cell.Slab.Array, cell.Offset, length, cell.Slab);
        }
    }

    /// <inheritdoc/>
    public override void Free(in SourceBuffer<T> buffer)
    {
        if (buffer.Tag is not Slab slab)
        {
            return;
        }

        lock (_gate)
        {
            List<Cell> cells = _free[slab.Key];
            slab.Used--;
            if (slab.Used > 0)
            {
                cells.Add(new Cell(slab, buffer.Offset));
                return;
            }

            // The last buffer of the slab: forget its free cells, so that the collector may have it.
            cells.RemoveAll(cell => cell.Slab == slab);
            SlabCount--;
        }
    }

    private void Carve(List<Cell> cells, int length, int alignment)
    {
        int size = Unsafe.SizeOf<T>();
        bool pages = size <= sizeof(long) && PageSize % size == 0; // larger elements cannot always begin at a page
        int step = alignment > 1 ? RoundUp(length, size, alignment) : length;
        SourceBuffer<T> whole = AlignedArray.Allocate<T>(_slabBytes / size, pages ? PageSize : alignment);
        var slab = new Slab(whole.Array!, (length, alignment));
        int count = _slabBytes / size / step;
        for (int index = count - 1; index >= 0; index--)
        {
            cells.Add(new Cell(slab, whole.Offset + (index * step)));
        }

        SlabCount++;
    }

    private static int RoundUp(int length, int size, int alignment)
    {
        int step = length;
        while ((long)step * size % alignment != 0)
        {
            step++;
        }

        return step;
    }

    private readonly record struct Cell(Slab Slab, int Offset);

    private sealed class Slab(T[] array, (int Length, int Alignment) key)
    {
        internal T[] Array { get; } = array;

        internal (int Length, int Alignment) Key { get; } = key;

        internal int Used { get; set; }
    }
}
