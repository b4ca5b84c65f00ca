using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Sources;

public sealed class HeapSourceOfBytesTests(ITestOutputHelper output) : SourceConformance<byte>(output)
{
    protected override BufferSource<byte> NewSource() => HeapSource<byte>.Instance;

    [Fact]
    public void Buffers_of_types_with_references_are_born_clear()
    {
        SourceBuffer<Named> values = HeapSource<Named>.Instance.Allocate(1000, 0);
        Assert.All(values.Array!, value => Assert.Equal(default, value));
        SourceBuffer<string> strings = HeapSource<string>.Instance.Allocate(1000, 0);
        Assert.All(strings.Array!, Assert.Null);
    }

    [Fact]
    public void The_heap_source_takes_every_element_type()
    {
        Assert.Equal(3, HeapSource<object>.Instance.Allocate(3, 0).Length);
        Assert.Equal(3, HeapSource<decimal>.Instance.Allocate(3, 0).Length);
        Assert.Equal(0, HeapSource<object>.Instance.MaxAlignment);
    }
}

public sealed class HeapSourceOfTriplesTests(ITestOutputHelper output) : SourceConformance<Triple>(output)
{
    protected override BufferSource<Triple> NewSource() => HeapSource<Triple>.Instance;
}
