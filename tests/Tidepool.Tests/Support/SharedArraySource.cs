namespace Tidepool.Tests.Support;

/// <summary>Buffers that lie side by side in one array, full of one element, so that whatever reaches beyond a buffer shows.</summary>
public sealed class SharedArraySource<T> : BufferSource<T>
{
    private readonly T _element;
    private int _next;

    public SharedArraySource(T element, int length = 1 << 16)
    {
        _element = element;
        All = new T[length];
        Array.Fill(All, element);
    }

    public override BufferForm Form => BufferForm.ArrayPart;

    /// <summary>What all buffers are parts of.</summary>
    public T[] All { get; }

    /// <summary>How many elements no longer are what they were.</summary>
    public int Changed => All.Count(e => !EqualityComparer<T>.Default.Equals(e, _element));

    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        int end = Interlocked.Add(ref _next, length);
        return new SourceBuffer<T>(All, end - length, length);
    }

    public override void Free(in SourceBuffer<T> buffer)
    {
    }
}
