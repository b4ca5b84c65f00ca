using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class DoubleReturnFull() : MisuseTest(PoolChecks.Full, stacks: true)
{
    [Fact]
    public void The_second_return_throws_and_says_where_the_buffer_was_rented_and_returned()
    {
        BufferLease<int> lease = RentHere();
        ReturnHere(lease);
        PoolMisuseException misuse = Throws(MisuseKind.DoubleReturn, () => lease.Return());
        Assert.Contains("returned twice", misuse.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(RentHere), misuse.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ReturnHere), misuse.Message, StringComparison.Ordinal);
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_return_on_another_thread_throws_and_says_where()
    {
        BufferLease<int> lease = RentHere();
        Threads.Run(() => ReturnHere(lease));
        PoolMisuseException misuse = Throws(MisuseKind.DoubleReturn, () => Threads.Run(() => lease.Return()));
        Assert.Contains(nameof(RentHere), misuse.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ReturnHere), misuse.Message, StringComparison.Ordinal);
        AssertNoTwoRenters();
    }

    [Fact]
    public void An_array_that_is_returned_twice_throws_however_much_happened_in_between()
    {
        int[] array = RentArrayHere();
        Pool.AsArrayPool().Return(array);
        Threads.Run(() => AssertNoTwoRentersOfArrays());
        PoolMisuseException misuse = Assert.Throws<PoolMisuseException>(() => Pool.AsArrayPool().Return(array));
        Assert.Contains($"'{Name}'", misuse.Message, StringComparison.Ordinal);
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void An_array_that_is_returned_twice_on_different_threads_throws_and_says_where()
    {
        int[] array = RentArrayHere();
        Threads.Run(() => Pool.AsArrayPool().Return(array));
        PoolMisuseException misuse = Throws(MisuseKind.DoubleReturn, () => Pool.AsArrayPool().Return(array));
        Assert.Contains(nameof(RentArrayHere), misuse.Message, StringComparison.Ordinal);
        AssertNoTwoRentersOfArrays();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BufferLease<int> RentHere() => Pool.Rent(100);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnHere(BufferLease<int> lease) => lease.Return();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int[] RentArrayHere() => Pool.AsArrayPool().Rent(128);
}
