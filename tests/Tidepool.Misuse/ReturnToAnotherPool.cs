using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>What one pool rented out is given to another one, of the same mode unless the cell says otherwise.</summary>
public abstract class ReturnToAnotherPool(PoolChecks mode, bool stacks = false) : MisuseTest(mode, stacks)
{
    /// <summary>The other pool keeps the array as if it were its own.</summary>
    protected void ReturnAnArrayThatIsAccepted()
    {
        BufferPool<int> other = NewOther(Pool.Checks);
        int[] array = other.AsArrayPool().Rent(128);
        Pool.AsArrayPool().Return(array);
        Assert.Equal(1, other.GetStatistics().Leased);
        Assert.Same(array, Pool.AsArrayPool().Rent(128));
        Pool.AsArrayPool().Return(array);
        Forgive(other, 1);
        Forgive(Pool, -1);
        AssertNoTwoRentersOfArrays();
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    /// <summary>The other pool throws, and the array's own still takes it.</summary>
    protected void ReturnAnArrayThatIsRefused(PoolChecks modeOfItsPool)
    {
        BufferPool<int> owner = NewOther(modeOfItsPool);
        int[] array = owner.AsArrayPool().Rent(128);
        PoolMisuseException misuse = Throws(MisuseKind.ForeignReturn, () => Pool.AsArrayPool().Return(array));
        Assert.Contains("did not hand it out", misuse.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.ForeignReturn));
        Assert.Equal(0, Pool.GetStatistics().Returned);
        owner.AsArrayPool().Return(array);
        AssertNoTwoRentersOfArrays();
    }

    protected void ReturnALease()
    {
        BufferPool<int> other = NewOther(Pool.Checks);
        BufferLease<int> lease = other.Rent(100);
        int[] array = lease.Segment.Array!;
        lease.Return();
        using BufferLease<int> mine = Pool.Rent(100);
        Assert.NotSame(array, mine.Segment.Array);
        Assert.Equal(0, other.GetStatistics().Leased);
    }

    private BufferPool<int> NewOther(PoolChecks mode) => NewPool<int>(new() { Name = "other", Checks = mode });
}
