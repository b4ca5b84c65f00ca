using System.Collections.Concurrent;

namespace Tidepool.Models.Pools;

/// <summary>Arrays of the heap; knows which of them were made and not given back.</summary>
internal sealed class CountingSource<T> : BufferSource<T>
{
    private readonly ConcurrentDictionary<T[], bool> _live = new(ReferenceEqualityComparer.Instance as IEqualityComparer<T[]>);
    private int _strangers;

    public override BufferForm Form => BufferForm.WholeArray;

    internal int Live => _live.Count;

    /// <summary>Buffers that came back twice or were never made.</summary>
    internal int Strangers => Volatile.Read(ref _strangers);

    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        var array = new T[length];
        _live.TryAdd(array, true);
        return new SourceBuffer<T>(array, 0, length);
    }

    public override void Free(in SourceBuffer<T> buffer)
    {
        if (buffer.Array is null || !_live.TryRemove(buffer.Array, out _))
        {
            Interlocked.Increment(ref _strangers);
        }
    }
}
