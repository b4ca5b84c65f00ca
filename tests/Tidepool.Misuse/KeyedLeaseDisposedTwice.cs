using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class KeyedLeaseDisposedTwice : ResourceMisuseTest
{
    [Fact]
    public async Task It_is_counted_and_the_new_renter_of_the_key_keeps_the_resource()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        KeyedResourceLease<string, FakeResource> old = await pool.RentAsync("a");
        old.Dispose();
        using KeyedResourceLease<string, FakeResource> current = await pool.RentAsync("a");
        old.Dispose();
        await old.DisposeAsync();
        Assert.Equal((false, true), (old.IsActive, current.IsActive));
        Assert.Equal((1, 2L), (pool.GetStatistics("a")!.Value.Leased, pool.GetStatistics("a")!.Value.StaleDisposes));
        Assert.Throws<ObjectDisposedException>(() => old.Value);
        Assert.Throws<ObjectDisposedException>(() => old.Detach());
        pool.Validate();
    }

    [Fact]
    public async Task It_is_harmless_when_its_place_went_to_another_key_and_its_own_was_forgotten()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        KeyedResourceLease<string, FakeResource> old = await pool.RentAsync("a");
        FakeResource stolen = old.Value;
        old.Dispose();
        using KeyedResourceLease<string, FakeResource> current = await pool.RentAsync("b");
        old.Dispose();
        Assert.Throws<ObjectDisposedException>(() => old.MarkBroken());
        Assert.Equal((1, 0, 1, true), (stolen.Ends, current.Value.Ends, pool.GetTotal(), current.IsActive));
        Assert.Equal(["b"], pool.Keys);
        pool.Validate();
    }
}
