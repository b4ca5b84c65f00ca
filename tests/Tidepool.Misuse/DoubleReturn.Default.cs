namespace Tidepool.Misuse;

public sealed class DoubleReturnDefault() : DoubleReturn(PoolChecks.Default)
{
    [Fact]
    public void The_second_return_throws_and_says_what_was_done()
    {
        BufferLease<int> lease = Pool.Rent(100);
        lease.Return();
        PoolMisuseException misuse = Throws(MisuseKind.DoubleReturn, () => lease.Return());
        Assert.Contains("returned twice", misuse.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.DoubleReturn));
        Assert.Equal(1, Pool.GetStatistics().Returned);
        Assert.Contains(misuse.Message, Reported);
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_return_through_a_copy_throws()
    {
        BufferLease<int> lease = Pool.Rent(100);
        BufferLease<int> copy = lease;
        copy.Dispose();
        Throws(MisuseKind.DoubleReturn, () => lease.Return());
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_return_here_after_a_return_on_another_thread_throws()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Threads.Run(() => lease.Return());
        Throws(MisuseKind.DoubleReturn, () => lease.Return());
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_return_on_another_thread_after_a_return_here_throws()
    {
        BufferLease<int> lease = Pool.Rent(100);
        lease.Return();
        Throws(MisuseKind.DoubleReturn, () => Threads.Run(() => lease.Return()));
        AssertNoTwoRenters();
    }

    [Fact]
    public void Returns_on_two_other_threads_one_after_the_other_throw()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Threads.Run(() => lease.Return());
        Throws(MisuseKind.DoubleReturn, () => Threads.Run(() => lease.Return()));
        Pool.Rent(100).Return(); // settles what was posted
        Throws(MisuseKind.DoubleReturn, () => Threads.Run(() => lease.Return()));
        AssertNoTwoRenters();
    }

    [Fact]
    public void The_new_renter_of_the_buffer_keeps_it() =>
        ReturnWhatSomeoneElseHasRented(second => Throws(MisuseKind.DoubleReturn, second));

    [Fact]
    public void A_second_Dispose_does_nothing_and_is_counted()
    {
        BufferLease<int> lease = Pool.Rent(100);
        lease.Dispose();
        lease.Dispose();
        Threads.Run(() => lease.Dispose());
        Assert.Equal(2, Pool.GetStatistics().StaleDisposes);
        Assert.Equal(0, Pool.GetStatistics().Misuses);
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_second_Dispose_while_the_buffer_is_leased_to_someone_else_is_reported()
    {
        BufferLease<int> old = Pool.Rent(100);
        old.Dispose();
        using BufferLease<int> current = Pool.Rent(100);
        old.Dispose();
        Assert.True(current.IsActive);
        Assert.Equal(1, Count(MisuseKind.StaleDispose));
        Assert.Contains(Reported, message => message.Contains("rented again", StringComparison.Ordinal)
            && message.Contains(Name, StringComparison.Ordinal));
    }

    [Fact]
    public void A_large_buffer_that_no_thread_keeps_is_protected_too()
    {
        BufferLease<int> lease = Pool.Rent(6_000_000);
        lease.Return();
        Throws(MisuseKind.DoubleReturn, () => lease.Return());
        using BufferLease<int> current = Pool.Rent(6_000_000);
        Throws(MisuseKind.DoubleReturn, () => lease.Return());
        Assert.True(current.IsActive);
    }

    [Fact]
    public void An_owner_ignores_it() => DisposeAnOwnerTwice();

    [Fact]
    public void An_array_that_is_returned_twice_in_a_row_throws()
    {
        int[] array = Pool.AsArrayPool().Rent(128);
        Pool.AsArrayPool().Return(array);
        Throws(MisuseKind.DoubleReturn, () => Pool.AsArrayPool().Return(array));
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void An_array_that_is_returned_twice_while_it_lies_in_this_thread_s_magazine_throws()
    {
        int[][] arrays = [.. Enumerable.Range(0, 10).Select(_ => Pool.AsArrayPool().Rent(128))];
        Array.ForEach(arrays, a => Pool.AsArrayPool().Return(a));
        foreach (int[] array in arrays)
        {
            Throws(MisuseKind.DoubleReturn, () => Pool.AsArrayPool().Return(array));
        }

        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void An_array_that_no_thread_keeps_throws_while_it_is_one_of_the_last()
    {
        int[][] arrays = [.. Enumerable.Range(0, 2).Select(_ => Pool.AsArrayPool().Rent(6_000_000))];
        Array.ForEach(arrays, a => Threads.Run(() => Pool.AsArrayPool().Return(a)));
        foreach (int[] array in arrays)
        {
            Throws(MisuseKind.DoubleReturn, () => Pool.AsArrayPool().Return(array));
        }

        Assert.NotSame(Pool.AsArrayPool().Rent(6_000_000), Pool.AsArrayPool().Rent(6_000_000));
        Array.ForEach(arrays, a => Pool.AsArrayPool().Return(a));
    }

    [Fact]
    public void While_the_budget_is_tight_an_array_throws_that_is_one_of_the_last()
    {
        BufferPool<int> pool = NewPool<int>(new() { Budget = 16 * 128 * sizeof(int), Checks = PoolChecks.Default });
        int[][] arrays = [.. Enumerable.Range(0, 16).Select(_ => pool.AsArrayPool().Rent(128))];
        Array.ForEach(arrays, a => pool.AsArrayPool().Return(a));
        Assert.True(pool.Core.IsTight);
        arrays = [.. arrays.Select(_ => pool.AsArrayPool().Rent(128))];
        foreach (int[] array in arrays)
        {
            pool.AsArrayPool().Return(array);
            Assert.Throws<PoolMisuseException>(() => pool.AsArrayPool().Return(array));
        }

        Assert.Equal((16, 0, 16), (pool.GetStatistics().Idle, pool.GetStatistics().Leased, pool.GetStatistics().Misuses));
        Assert.Equal(16, arrays.Select(_ => pool.AsArrayPool().Rent(128)).Distinct().Count());
        Array.ForEach(arrays, a => pool.AsArrayPool().Return(a));
    }
}
