using System.Runtime.InteropServices;

namespace Tidepool.Native.Tests.Misuse;

public sealed class ForeignBuffer : NativeMisuseTest
{
    [Fact]
    public unsafe void Memory_of_another_kind_and_addresses_inside_a_buffer_are_refused()
    {
        NativeSource<int> source = NativeSource<int>.Instance;
        void* other = NativeMemory.Alloc(400);
        SourceBuffer<int> small = source.Allocate(100, 0);
        SourceBuffer<int> large = source.Allocate(100_000, 0);
        foreach (SourceBuffer<int> strange in (SourceBuffer<int>[])
        [
            new((nint)other, 100),
            new((nint)other, 100, small.Tag),
            new((nint)other, 100, large.Tag),
            new(small.Address + 4, 99, small.Tag),
            new(small.Address + 400, 100, small.Tag),
            new(large.Address + 16, 100, large.Tag),
            new(new int[10], 0, 10),
        ])
        {
            Assert.Throws<InvalidOperationException>(() => source.Free(strange));
        }

        NativeMemory.Free(other);
        source.Free(small);
        source.Free(large);
        AssertNoTwoRenters();
    }
}
