namespace Tidepool.Tests.Support;

/// <summary>Arrays that are not zeroed when they are born, as memory that was used before is.</summary>
internal sealed class DirtySource<T> : BufferSource<T>
{
    public override BufferForm Form => BufferForm.WholeArray;

    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        var array = new T[length];
        Array.Fill(array, Sample.Of<T>(77));
        return new SourceBuffer<T>(array, 0, length);
    }
}
