using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ForeignArrayOff() : MisuseTest(PoolChecks.Off)
{
    [Fact]
    public void An_array_of_a_valid_length_is_accepted_as_by_the_runtime_s_pool()
    {
        int[] foreign = new int[128];
        Pool.AsArrayPool().Return(foreign);
        Assert.Same(foreign, Pool.AsArrayPool().Rent(128));
        Pool.AsArrayPool().Return(foreign);
        Forgive(Pool, -1);
        AssertNoTwoRentersOfArrays();
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    [Fact]
    public void An_array_of_a_derived_element_type_is_accepted_and_never_handed_out()
    {
        BufferPool<object> pool = NewPool<object>(new() { Checks = PoolChecks.Off });
        pool.AsArrayPool().Return(new string[128]);
        object[][] rented = [.. Enumerable.Range(0, 50).Select(_ => pool.AsArrayPool().Rent(128))];
        Assert.All(rented, array => array[0] = 42);
        Array.ForEach(rented, a => pool.AsArrayPool().Return(a));
        Forgive(pool, pool.GetStatistics().Leased);
    }
}
