using Tidepool.Data;
using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

/// <summary>What a host needs of a pool: options checked without a pool, a synchronous end, and the last failure.</summary>
public sealed class HostedUseTests : ResourceTest
{
    [Fact]
    public void Options_are_checked_without_making_a_pool()
    {
        Options().Validate();
        new PooledDbOptions().Validate();
        new ObjectPoolOptions().Validate();
        new PooledMemoryStreamOptions().Validate();
        new BufferPoolOptions<byte>().Validate();
        var keyed = new KeyedResourcePoolOptions<int> { PerKey = Options(), MaxTotal = 1 };
        keyed.Validate();

        Refuses("MaxSize is 0; allowed is 1 or more.", () => Options(max: 0).Validate());
        Refuses("MaxSize is 0; allowed is 1 or more.", () => new PooledDbOptions { Pool = Options(max: 0) }.Validate());
        Refuses("SessionPooler is 9; allowed is ", () => new PooledDbOptions { SessionPooler = (SessionPooler)9 }.Validate());
        Refuses("InitializeSessionAsync is given without ", () => new PooledDbOptions
        {
            InitializeSessionAsync = static (_, _) => Task.CompletedTask,
        }.Validate());
        Refuses("Budget must be 0 objects or more.", () => new ObjectPoolOptions { Budget = -1 }.Validate());
        Refuses("InitialSize must be 0 to ", () => new PooledMemoryStreamOptions { InitialSize = -1 }.Validate());
        Refuses("MaxLength must be 1 to ", () => new BufferPoolOptions<byte> { MaxLength = 0 }.Validate());
        Refuses("Name is ' '", () => new BufferPoolOptions<byte> { Name = " " }.Validate());
        Refuses(
            "MaxTotal is 0; allowed is 1 or more.",
            () => new KeyedResourcePoolOptions<int> { PerKey = Options(), MaxTotal = 0 }.Validate());
        Refuses(
            "MinIdle is 1; allowed is 0 with keys",
            () => new KeyedResourcePoolOptions<int> { PerKey = Options(minIdle: 1), MaxTotal = 1 }.Validate());
    }

    [Fact]
    public async Task A_pool_that_is_disposed_synchronously_ends_without_waiting_for_its_leases()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource> held = Rent(pool);
        Rent(pool).Dispose();
        pool.Dispose();
        pool.Dispose();
        Assert.Equal(1, Policy.Alive);
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => pool.RentAsync().AsTask());
        held.Dispose();
        Assert.Equal(0, Policy.Alive);
        Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
    }

    [Fact]
    public async Task A_keyed_pool_that_is_disposed_synchronously_ends_without_waiting_for_its_leases()
    {
        var pool = new KeyedResourcePool<int, FakeResource>(_ => Policy, new() { PerKey = Options(), MaxTotal = 4 });
        KeyedResourceLease<int, FakeResource> held = await pool.RentAsync(1);
        (await pool.RentAsync(2)).Dispose();
        pool.Dispose();
        pool.Dispose();
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => pool.RentAsync(1).AsTask());
        Assert.Equal(1, Policy.Alive);
        held.Dispose();
        Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
        Assert.Equal(0, Policy.Alive);
    }

    [Fact]
    public async Task The_statistics_have_the_last_failure_until_a_creation_succeeds_or_the_pool_is_cleared()
    {
        ResourcePool<FakeResource> pool = NewPool();
        Assert.Null(pool.GetStatistics().LastCreateError);
        foreach (bool clears in (bool[])[true, false])
        {
            Policy.CreateError = new IOException("refused");
            await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(pool.RentAsync().AsTask()));
            Assert.Same(Policy.CreateError, pool.GetStatistics().LastCreateError);
            Policy.CreateError = null;
            if (clears)
            {
                await pool.ClearAsync();
            }
            else
            {
                Time.Advance(Second);
                Rent(pool).Dispose();
            }

            Assert.Null(pool.GetStatistics().LastCreateError);
        }
    }

    private static void Refuses(string message, Action check) =>
        Assert.StartsWith(message, Assert.ThrowsAny<ArgumentException>(check).Message);
}
