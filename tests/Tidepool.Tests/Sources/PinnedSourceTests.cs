using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Sources;

public sealed class PinnedSourceOfBytesTests(ITestOutputHelper output) : SourceConformance<byte>(output)
{
    protected override BufferSource<byte> NewSource() => PinnedSource<byte>.Instance;

    [Fact]
    public unsafe void A_pinned_buffer_keeps_its_address_over_compacting_collections()
    {
        List<byte[]> neighbours = [];
        SourceBuffer<byte> buffer = default;
        for (int i = 0; i < 100; i++)
        {
            neighbours.Add(new byte[1000]);
            if (i == 50)
            {
                buffer = PinnedSource<byte>.Instance.Allocate(1000, 0);
            }
        }

        nint before = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(Elements(buffer)));
        neighbours.RemoveRange(0, 99);
        Eventually.Collect();
        Assert.Equal(before, (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(Elements(buffer))));
        Assert.Equal(GC.MaxGeneration, GC.GetGeneration(buffer.Array!));
        GC.KeepAlive(neighbours);
    }

    [Fact]
    public void Types_with_references_cannot_be_pinned()
    {
        NotSupportedException failure = Assert.Throws<NotSupportedException>(() => PinnedSource<string>.Instance);
        Assert.Contains("HeapSource", failure.Message, StringComparison.Ordinal);
        Assert.Throws<NotSupportedException>(() => PinnedSource<Named>.Instance);
    }
}

public sealed class PinnedSourceOfTriplesTests(ITestOutputHelper output) : SourceConformance<Triple>(output)
{
    protected override BufferSource<Triple> NewSource() => PinnedSource<Triple>.Instance;
}

public sealed class PinnedSourceOfDecimalsTests(ITestOutputHelper output) : SourceConformance<decimal>(output)
{
    protected override BufferSource<decimal> NewSource() => PinnedSource<decimal>.Instance;
}
