using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class WriteAfterReturnFull() : MisuseTest(PoolChecks.Full, stacks: true)
{
    [Theory]
    [InlineData(0)]
    [InlineData(50)]
    [InlineData(99)]
    public void A_write_through_a_span_that_was_taken_before_is_found_before_the_buffer_is_used_again(int place)
    {
        BufferLease<int> lease = RentHere();
        int[] array = lease.Segment.Array!;
        Span<int> span = lease.Span;
        ReturnHere(lease);
        span[place] = 42;
        PoolMisuseException misuse = FindByRenting(array);
        Assert.Contains("written to after it was returned", misuse.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(RentHere), misuse.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ReturnHere), misuse.Message, StringComparison.Ordinal);
        Assert.Contains($"Element {place} ", misuse.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.WriteAfterReturn));
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_write_to_an_array_that_was_returned_is_found_before_it_is_used_again()
    {
        int[] array = Pool.AsArrayPool().Rent(128);
        Pool.AsArrayPool().Return(array);
        array[127] = 42;
        PoolMisuseException misuse = Assert.Throws<PoolMisuseException>(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                int[] rented = Pool.AsArrayPool().Rent(128);
                Assert.NotSame(array, rented);
                Pool.AsArrayPool().Return(rented);
            }
        });
        Assert.Equal(MisuseKind.WriteAfterReturn, misuse.Kind);
        Assert.Contains($"'{Name}'", misuse.Message, StringComparison.Ordinal);
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void Returned_memory_holds_nothing_of_its_last_renter()
    {
        BufferLease<int> lease = Pool.Rent(100);
        int[] array = lease.Segment.Array!;
        lease.Span.Fill(0x5EC4E7);
        lease.Return();
        Assert.DoesNotContain(0x5EC4E7, array);
    }

    [Fact]
    public void Memory_that_nobody_wrote_to_is_rented_again_without_a_report()
    {
        for (int i = 0; i < 1000; i++)
        {
            using BufferLease<int> lease = Pool.Rent(100);
            lease.Span.Fill(i);
        }

        Assert.Equal(0, Pool.GetStatistics().Misuses);
        Assert.InRange(Pool.GetStatistics().Missed, 1, 200);
    }

    private PoolMisuseException FindByRenting(int[] damaged)
    {
        return Throws(MisuseKind.WriteAfterReturn, () =>
        {
            for (int i = 0; i < 1000; i++)
            {
                using BufferLease<int> lease = Pool.Rent(100);
                Assert.NotSame(damaged, lease.Segment.Array);
            }
        });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BufferLease<int> RentHere() => Pool.Rent(100);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnHere(BufferLease<int> lease) => lease.Return();
}
