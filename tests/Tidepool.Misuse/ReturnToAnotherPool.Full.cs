using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ReturnToAnotherPoolFull() : MisuseTest(PoolChecks.Full, stacks: true)
{
    [Fact]
    public void The_other_pool_refuses_the_array_and_the_owner_still_takes_it()
    {
        BufferPool<int> owner = NewPool<int>(new() { Name = "owner", Checks = PoolChecks.Full });
        int[] array = owner.AsArrayPool().Rent(128);
        PoolMisuseException misuse = Throws(MisuseKind.ForeignReturn, () => Pool.AsArrayPool().Return(array));
        Assert.Contains("did not hand it out", misuse.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.ForeignReturn));
        Assert.Equal(0, Pool.GetStatistics().Returned);
        owner.AsArrayPool().Return(array);
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void The_array_of_a_pool_without_checks_is_refused_too()
    {
        BufferPool<int> owner = NewPool<int>(new() { Name = "owner", Checks = PoolChecks.Default });
        int[] array = owner.AsArrayPool().Rent(128);
        Throws(MisuseKind.ForeignReturn, () => Pool.AsArrayPool().Return(array));
        owner.AsArrayPool().Return(array);
    }
}
