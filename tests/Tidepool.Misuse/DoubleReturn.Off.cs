namespace Tidepool.Misuse;

public sealed class DoubleReturnOff() : DoubleReturn(PoolChecks.Off)
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
    public void The_new_renter_of_the_buffer_keeps_it() => ReturnWhatSomeoneElseHasRented(static second => second());

    [Fact]
    public void An_owner_ignores_it() => DisposeAnOwnerTwice();

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
