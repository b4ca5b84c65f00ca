using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>A pool is given an array that no pool rented out, and takes it as the runtime's pool does.</summary>
public abstract class ForeignArray(PoolChecks mode) : MisuseTest(mode)
{
    protected void ReturnAnArrayThatIsAccepted()
    {
        int[] foreign = new int[128];
        Pool.AsArrayPool().Return(foreign);
        Assert.Same(foreign, Pool.AsArrayPool().Rent(128));
        Pool.AsArrayPool().Return(foreign);
        Forgive(Pool, -1);
        AssertNoTwoRentersOfArrays();
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    /// <summary>Its next renter could not write every object into it.</summary>
    protected void ReturnAnArrayOfADerivedElementType()
    {
        BufferPool<object> pool = NewPool<object>(new() { Checks = Pool.Checks });
        pool.AsArrayPool().Return(new string[128]);
        object[][] rented = [.. Enumerable.Range(0, 50).Select(_ => pool.AsArrayPool().Rent(128))];
        Assert.All(rented, array => array[0] = 42);
        Array.ForEach(rented, a => pool.AsArrayPool().Return(a));
        Forgive(pool, pool.GetStatistics().Leased);
    }
}
