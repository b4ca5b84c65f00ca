namespace Tidepool.Tests.Sources;

public sealed class SourceBufferTests
{
    [Fact]
    public void A_range_outside_the_array_is_refused()
    {
        Assert.Throws<ArgumentNullException>("array", () => new SourceBuffer<int>(null!, 0, 0));
        Assert.Throws<ArgumentOutOfRangeException>("offset", () => new SourceBuffer<int>(new int[4], -1, 2));
        Assert.Throws<ArgumentOutOfRangeException>("length", () => new SourceBuffer<int>(new int[4], 0, -1));
        Assert.Throws<ArgumentOutOfRangeException>("length", () => new SourceBuffer<int>(new int[4], 2, 3));
        Assert.Throws<ArgumentOutOfRangeException>("length", () => new SourceBuffer<int>(new int[4], 5, 0));
    }

    [Fact]
    public void A_native_buffer_needs_an_address()
    {
        Assert.Throws<ArgumentOutOfRangeException>("address", () => new SourceBuffer<int>((nint)0, 4));
        Assert.Throws<ArgumentOutOfRangeException>("length", () => new SourceBuffer<int>((nint)4096, -1));
    }

    [Fact]
    public void A_buffer_remembers_what_its_source_put_there()
    {
        object tag = new();
        int[] array = new int[10];
        SourceBuffer<int> part = new(array, 2, 5, tag);
        Assert.Same(array, part.Array);
        Assert.Equal((2, 5, 0), (part.Offset, part.Length, (int)part.Address));
        Assert.Same(tag, part.Tag);
        SourceBuffer<int> native = new((nint)4096, 5, tag);
        Assert.Null(native.Array);
        Assert.Equal((0, 5, 4096), (native.Offset, native.Length, (int)native.Address));
        Assert.Same(tag, native.Tag);
    }
}
