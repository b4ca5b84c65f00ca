namespace Tidepool.Native.Tests.Misuse;

public sealed class DoubleFree : NativeMisuseTest
{
    [Theory]
    [InlineData(100)]
    [InlineData(100_000)]
    public void A_buffer_that_is_given_to_its_source_twice_is_refused_the_second_time(int length)
    {
        NativeSource<int> source = NativeSource<int>.Instance;
        SourceBuffer<int> other = source.Allocate(length, 0);
        SourceBuffer<int> buffer = source.Allocate(length, 0);
        source.Free(buffer);
        InvalidOperationException thrown = Assert.Throws<InvalidOperationException>(() => source.Free(buffer));
        Assert.Contains("freed before", thrown.Message, StringComparison.Ordinal);
        Assert.Contains($"0x{buffer.Address:x}", thrown.Message, StringComparison.Ordinal);
        SourceBuffer<int> first = source.Allocate(length, 0);
        SourceBuffer<int> second = source.Allocate(length, 0);
        Assert.Equal(3, new HashSet<nint> { first.Address, second.Address, other.Address }.Count);
        source.Free(first);
        source.Free(second);
        source.Free(other);
        AssertNoTwoRenters();
    }
}
