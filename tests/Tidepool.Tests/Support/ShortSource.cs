namespace Tidepool.Tests.Support;

/// <summary>A source that makes short arrays only.</summary>
public sealed class ShortSource(int maxLength) : BufferSource<byte>
{
    public override BufferForm Form => BufferForm.WholeArray;

    public override int MaxLength => maxLength;

    public override SourceBuffer<byte> Allocate(int length, int alignment)
    {
        Assert.InRange(length, 1, maxLength);
        return new SourceBuffer<byte>(new byte[length], 0, length);
    }
}
