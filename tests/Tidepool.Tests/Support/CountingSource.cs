namespace Tidepool.Tests.Support;

/// <summary>Heap arrays, counted: births, deaths and what was asked.</summary>
public sealed class CountingSource<T> : BufferSource<T>
{
    private readonly Lock _gate = new();

    public override BufferForm Form => BufferForm.WholeArray;

    public int Born { get; private set; }

    public int Dead { get; private set; }

    public List<(int Length, int Alignment)> Asked { get; } = [];

    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        lock (_gate)
        {
            Born++;
            Asked.Add((length, alignment));
            return new SourceBuffer<T>(new T[length], 0, length);
        }
    }

    public override void Free(in SourceBuffer<T> buffer)
    {
        lock (_gate)
        {
            Dead++;
        }
    }
}
