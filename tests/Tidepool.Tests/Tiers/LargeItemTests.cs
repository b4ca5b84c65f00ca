using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

/// <summary>Buffers so large that a thread keeps a few at most: the others come and go one at a time.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class LargeItemTests : PoolTest
{
    private const int Held = 8;

    public static TheoryData<int> Lengths => [80_000, 128 << 10, 1_000_000, 4 << 20];

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Leases_are_rented_again_and_counted_and_leave_no_chunk_behind(int length)
    {
        BufferPool<byte> pool = NewPool<byte>();
        for (int round = 0; round < 3; round++)
        {
            BufferLease<byte>[] leases = [.. Enumerable.Range(0, Held).Select(_ => pool.Rent(length))];
            Assert.Equal(Held, leases.Select(static l => l.Segment.Array).Distinct().Count());
            Assert.Equal((Held, 0), (pool.GetStatistics().Leased, pool.GetStatistics().Idle));
            Array.ForEach(leases, static l => l.Return());
            Assert.All(leases, static l => Assert.Throws<PoolMisuseException>(l.Return));
            pool.Validate();
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((3L * Held, 0, Held, Held), (statistics.Rented, statistics.Leased, statistics.Idle, statistics.Missed));
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void An_array_that_lies_idle_is_not_taken_again(int length)
    {
        ArrayPool<byte> arrays = NewPool<byte>().AsArrayPool();
        byte[][] held = [.. Enumerable.Range(0, Held).Select(_ => arrays.Rent(length))];
        Array.ForEach(held, array => arrays.Return(array));
        Assert.All(held, array => Assert.Throws<PoolMisuseException>(() => arrays.Return(array)));
        byte[][] again = [.. Enumerable.Range(0, Held).Select(_ => arrays.Rent(length))];
        Assert.Equal(held.ToHashSet(), again.ToHashSet());
        Array.ForEach(again, array => arrays.Return(array));
    }

    [Fact]
    public void Leases_of_a_handle_come_back_to_the_handle()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using (ThreadHandle<byte> handle = pool.GetThreadHandle(1_000_000))
        {
            for (int round = 0; round < 3; round++)
            {
                BufferLease<byte>[] leases = new BufferLease<byte>[Held];
                foreach (ref BufferLease<byte> lease in leases.AsSpan())
                {
                    lease = handle.Rent(1_000_000);
                }

                Array.ForEach(leases, static l => l.Return());
                Assert.True(pool.GetStatistics().Leased >= 0);
            }
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((3L * Held, 0, Held), (statistics.Rented, statistics.Leased, statistics.Missed));
        pool.Validate();
    }

    [Fact]
    public void What_a_budget_refuses_is_given_up()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 4 << 20 });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, Held).Select(_ => pool.Rent(1 << 20))];
        Array.ForEach(leases, static l => l.Return());
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0, 4, 4), (statistics.Leased, statistics.Idle, statistics.Dropped));
        pool.Validate();
    }
}
