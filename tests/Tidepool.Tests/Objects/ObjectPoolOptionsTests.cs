using Tidepool.Tests.Support;

namespace Tidepool.Tests.Objects;

public sealed class ObjectPoolOptionsTests
{
    public static TheoryData<ObjectPoolOptions, string> Wrong => new()
    {
        { new() { Budget = -1 }, "Budget must be 0" },
        { new() { ItemBytes = 0 }, "ItemBytes must be 1" },
        { new() { LeakSampling = -1 }, "LeakSampling must be 0" },
        { new() { Checks = (PoolChecks)7 }, "Checks must be" },
    };

    [Theory]
    [MemberData(nameof(Wrong))]
    public void An_option_out_of_range_is_named_with_its_range(ObjectPoolOptions options, string message) =>
        Assert.Contains(
            message,
            Assert.Throws<ArgumentOutOfRangeException>(nameof(options), () => new SimpleObjectPool<Gadget>(options)).Message,
            StringComparison.Ordinal);

    [Fact]
    public void Names_tell_pools_apart()
    {
        using var one = new SimpleObjectPool<Gadget>();
        using var two = new SimpleObjectPool<Gadget>();
        using var named = new SimpleObjectPool<Gadget>(new() { Name = "mine", Checks = PoolChecks.Off });
        Assert.NotEqual(one.Name, two.Name);
        Assert.StartsWith("Gadget-", one.Name, StringComparison.Ordinal);
        Assert.Equal(("mine", PoolChecks.Off), (named.Name, named.Checks));
    }

    [Fact]
    public void Heavy_objects_are_held_in_smaller_numbers_by_a_thread()
    {
        using var pool = new SimpleObjectPool<Gadget>(new() { ItemBytes = 1 << 20, Budget = 1 });
        List<Gadget> items = [pool.RentRaw(), pool.RentRaw()];
        items.ForEach(pool.ReturnRaw);
        Assert.Equal((1, 1), (pool.GetStatistics().Idle, pool.GetStatistics().Dropped));
        Assert.Equal(1 << 20, pool.GetStatistics().BytesIdle);
    }
}
