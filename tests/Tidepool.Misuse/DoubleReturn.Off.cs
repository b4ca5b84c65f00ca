using System.Buffers;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class DoubleReturnOff() : MisuseTest(PoolChecks.Off)
{
    [Fact]
    public void Nothing_is_thrown_and_the_return_is_counted()
    {
        BufferLease<int> lease = Pool.Rent(100);
        lease.Return();
        lease.Return();
        lease.Return();
        Assert.Equal(2, Count(MisuseKind.DoubleReturn));
        Assert.Equal(1, Pool.GetStatistics().Returned);
        AssertNoTwoRenters();
    }

    [Fact]
    public void Nothing_is_thrown_on_another_thread()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Threads.Run(() => lease.Return());
        Threads.Run(() => lease.Return());
        lease.Return();
        Assert.Equal(2, Count(MisuseKind.DoubleReturn));
        Assert.Equal(1, Pool.GetStatistics().Returned);
        AssertNoTwoRenters();
    }

    [Fact]
    public void The_new_renter_of_the_buffer_keeps_it()
    {
        BufferLease<int> old = Pool.Rent(100);
        old.Return();
        using BufferLease<int> current = Pool.Rent(100);
        current.Span.Fill(77);
        old.Return();
        Assert.True(current.IsActive);
        AssertNoTwoRenters();
        Assert.Equal(-1, current.Span.IndexOfAnyExcept(77));
    }

    [Fact]
    public void An_owner_ignores_it()
    {
        IMemoryOwner<int> owner = Pool.Rent(100).ToOwner();
        owner.Dispose();
        owner.Dispose();
        AssertNoTwoRenters();
    }

    [Fact]
    public void An_array_that_is_returned_twice_is_accepted_as_by_the_runtime_s_pool()
    {
        BufferPool<int> pool = BufferPool<int>.Create(new() { Checks = PoolChecks.Off });
        int[] array = pool.AsArrayPool().Rent(128);
        pool.AsArrayPool().Return(array);
        pool.AsArrayPool().Return(array);
        pool.Dispose();
    }
}
