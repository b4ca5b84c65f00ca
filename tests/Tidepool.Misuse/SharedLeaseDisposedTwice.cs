using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class SharedLeaseDisposedTwice : ResourceMisuseTest
{
    [Fact]
    public async Task It_counts_once_and_the_other_renters_keep_the_resource()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        SharedLease<FakeResource> one = await pool.RentSharedAsync("a"), other = await pool.RentSharedAsync("a"), copy = one;
        FakeResource resource = other.Value;
        one.MarkBroken();
        one.Dispose();
        one.Dispose();
        copy.Dispose();
        Assert.Equal((0, 1, true), (resource.Ends, pool.GetStatistics("a")!.Value.Leased, other.IsActive));
        other.Dispose();
        copy.Dispose();
        other.Dispose();
        Assert.Equal((1, 0), (resource.Ends, pool.GetTotal()));
        default(SharedLease<FakeResource>).Dispose();
        pool.Validate();
    }

    [Fact]
    public async Task A_late_second_disposal_does_not_touch_the_next_resource_of_the_key()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        SharedLease<FakeResource> old = await pool.RentSharedAsync("a");
        old.Dispose();
        using SharedLease<FakeResource> current = await pool.RentSharedAsync("a");
        old.Dispose();
        Assert.Equal((true, 1, 0), (current.IsActive, pool.GetStatistics("a")!.Value.Leased, current.Value.Ends));
    }

    [Fact]
    public async Task Racing_disposals_of_its_copies_count_once()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        for (int round = 0; round < 300; round++)
        {
            SharedLease<FakeResource>[] leases = [await pool.RentSharedAsync("a"), await pool.RentSharedAsync("a")];
            Threads.RunAll(3, _ => leases[0].Dispose());
            Assert.Equal((1, true), (pool.GetStatistics("a")!.Value.Leased, leases[1].IsActive));
            leases[1].Dispose();
            Assert.Equal((0, 1), (pool.GetStatistics("a")!.Value.Leased, Policy.Made.Count));
        }
    }
}
