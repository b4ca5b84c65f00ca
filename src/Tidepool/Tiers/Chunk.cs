namespace Tidepool;

/// <summary>Up to a magazine full of idle items on their way through the shared tier. Owned by one thread or one stripe at a time.</summary>
internal sealed class Chunk
{
    internal Items Items;
    internal int Count;

    internal bool IsFull => Count == Items.Capacity;

    internal void Add(object item)
    {
        Items.At(ref Items, Count) = item;
        Count++;
    }

    /// <summary>Adds several at once: one bulk copy instead of a write barrier for each.</summary>
    internal void Add(ReadOnlySpan<object?> items)
    {
        items.CopyTo(Items.Span(ref Items)[Count..]);
        Count += items.Length;
    }

    internal ReadOnlySpan<object?> Content() => Items.Span(ref Items)[..Count];

    internal void Clear()
    {
        Items.Span(ref Items)[..Count].Clear();
        Count = 0;
    }
}
