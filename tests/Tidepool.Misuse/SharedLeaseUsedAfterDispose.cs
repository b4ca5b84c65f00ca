using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class SharedLeaseUsedAfterDispose : ResourceMisuseTest
{
    [Fact]
    public async Task It_throws_also_while_others_still_use_the_resource()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        SharedLease<FakeResource> lease = await pool.RentSharedAsync("a"), copy = lease;
        SharedLease<FakeResource> other = await pool.RentSharedAsync("a");
        lease.Dispose();
        AssertThrows(copy);
        other.Dispose();
        AssertThrows(copy);
        using SharedLease<FakeResource> next = await pool.RentSharedAsync("a");
        AssertThrows(copy);
        AssertThrows(default);
        Assert.Equal((0, other.IsActive), (next.Value.Ends, false));
        Assert.Same(next.Value, Policy.Made.Single());
    }

    private static void AssertThrows(SharedLease<FakeResource> lease)
    {
        Assert.False(lease.IsActive);
        Assert.Throws<ObjectDisposedException>(() => lease.Value);
        Assert.Throws<ObjectDisposedException>(() => lease.MarkBroken());
    }
}
