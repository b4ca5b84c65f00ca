using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

/// <summary>What fails in a keyed pool says at which key.</summary>
public sealed class KeyInReportTests
{
    [Fact]
    public async Task A_failed_creation_and_a_timeout_name_the_key()
    {
        await using var pool = new KeyedResourcePool<Uri, FakeResource>(
            static key => new Host(key), new() { PerKey = new() { Name = "hosts", MaxSize = 1 }, MaxTotal = 10 });
        ResourceCreateException failed = await Assert.ThrowsAsync<ResourceCreateException>(
            () => pool.RentAsync(new Uri("tcp://down:1")).AsTask());
        Assert.StartsWith(
            "Pool 'hosts' (key 'tcp://down:1/') could not create a resource: IOException: refused",
            failed.Message,
            StringComparison.Ordinal);
        Assert.Equal(("hosts", "tcp://down:1/"), (failed.PoolName, failed.Key));

        using KeyedResourceLease<Uri, FakeResource> held = await pool.RentAsync(new Uri("tcp://up:2"));
        ResourcePoolTimeoutException late = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(
            () => pool.RentAsync(new Uri("tcp://up:2"), TimeSpan.Zero).AsTask());
        Assert.Contains("of pool 'hosts' (key 'tcp://up:2/')", late.Message, StringComparison.Ordinal);
        Assert.Equal("tcp://up:2/", late.Key);
    }

    [Fact]
    public async Task Rentals_of_several_keys_that_time_out_at_once_name_each_its_own()
    {
        var time = new ManualTime();
        await using var pool = new KeyedResourcePool<Uri, FakeResource>(static key => new Host(key), new()
        {
            PerKey = new()
            {
                MaxSize = 1,
                RentTimeout = TimeSpan.FromSeconds(1),
                TimeProvider = time,
                Executor = static item => item.Execute(),
            },
            MaxTotal = 1,
        });
        using KeyedResourceLease<Uri, FakeResource> held = await pool.RentAsync(new Uri("tcp://up:1"));
        Task[] waiting = [.. Enumerable.Range(2, 3).Select(port => pool.RentAsync(new Uri($"tcp://up:{port}")).AsTask())];
        time.Advance(1000);
        List<string> keys = [];
        foreach (Task rental in waiting)
        {
            keys.Add((await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => rental)).Key);
        }

        Assert.Equal(["tcp://up:2/", "tcp://up:3/", "tcp://up:4/"], keys);
    }

    [Fact]
    public async Task A_pool_without_keys_names_none()
    {
        await using var pool = new ResourcePool<FakeResource>(new FakePolicy(), new() { Name = "no keys", MaxSize = 1 });
        using ResourceLease<FakeResource> held = await pool.RentAsync();
        ResourcePoolTimeoutException late = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(
            () => pool.RentAsync(TimeSpan.Zero).AsTask());
        Assert.Contains("of pool 'no keys' came free", late.Message, StringComparison.Ordinal);
        Assert.Equal("", late.Key);
    }

    [Fact]
    public async Task An_overdue_lease_is_told_with_pool_and_key()
    {
        var time = new ManualTime();
        await using var pool = new KeyedResourcePool<Uri, FakeResource>(static key => new Host(key), new()
        {
            PerKey = new()
            {
                Name = "overdue hosts",
                MaxSize = 1,
                LeakThreshold = TimeSpan.FromSeconds(1),
                TimeProvider = time,
                Executor = static item => item.Execute(),
            },
            MaxTotal = 10,
        });
        MisuseReport? told = null;
        Action<MisuseReport> handler = report => told = report.PoolName == "overdue hosts" ? report : told;
        PoolDiagnostics.MisuseReported += handler;
        try
        {
            using KeyedResourceLease<Uri, FakeResource> held = await pool.RentAsync(new Uri("tcp://up:3"));
            time.Advance(1000);
        }
        finally
        {
            PoolDiagnostics.MisuseReported -= handler;
        }

        Assert.Equal(MisuseKind.NeverReturned, told!.Kind);
        Assert.Contains("(pool 'overdue hosts' (key 'tcp://up:3/'))", told.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_rental_after_the_shutdown_names_its_key()
    {
        var pool = new KeyedResourcePool<Uri, FakeResource>(
            static key => new Host(key), new() { PerKey = new() { Name = "ended hosts", MaxSize = 1 }, MaxTotal = 10 });
        KeyedResourceLease<Uri, FakeResource> held = await pool.RentAsync(new Uri("tcp://up:1"));
        await pool.ShutdownAsync(TimeSpan.Zero);
        foreach (int port in (int[])[1, 2]) // the pool has the first one still, and never had the second
        {
            var key = new Uri($"tcp://up:{port}");
            string message = $"Pool 'ended hosts' (key 'tcp://up:{port}/') was shut down and rents no more.";
            ResourcePoolShutdownException refusal = await Assert.ThrowsAsync<ResourcePoolShutdownException>(
                () => pool.RentAsync(key).AsTask());
            Assert.Equal((message, $"tcp://up:{port}/"), (refusal.Message, refusal.Key));
            Assert.Equal(message, Assert.Throws<ResourcePoolShutdownException>(() => pool.Rent(key)).Message);
        }

        held.Dispose();
    }

    [Fact]
    public async Task A_refused_rental_names_its_key()
    {
        var perKey = new ResourcePoolOptions { Name = "few hosts", MaxSize = 1, MaxWaiters = 1 };
        await using var pool = new KeyedResourcePool<Uri, FakeResource>(
            static key => new Host(key), new() { PerKey = perKey, MaxTotal = 10, MaxKeys = 1 });
        KeyedResourceLease<Uri, FakeResource> held = await pool.RentAsync(new Uri("tcp://up:1"));
        Task<KeyedResourceLease<Uri, FakeResource>> waiting = pool.RentAsync(new Uri("tcp://up:1")).AsTask();
        foreach (int port in (int[])[1, 2]) // no other caller may wait for the first one, and there is no room for the second
        {
            ResourcePoolRejectedException refusal = await Assert.ThrowsAsync<ResourcePoolRejectedException>(
                () => pool.RentAsync(new Uri($"tcp://up:{port}")).AsTask());
            Assert.StartsWith($"Pool 'few hosts' (key 'tcp://up:{port}/') refused", refusal.Message, StringComparison.Ordinal);
            Assert.Equal($"tcp://up:{port}/", refusal.Key);
        }

        held.Dispose();
        (await waiting).Dispose();
    }

    [Fact]
    public async Task A_lease_that_has_ended_names_its_key()
    {
        await using var pool = new KeyedResourcePool<Uri, FakeResource>(
            static key => new Host(key), new() { PerKey = new() { Name = "over hosts", MaxSize = 1 }, MaxTotal = 10 });
        KeyedResourceLease<Uri, FakeResource> lease = await pool.RentAsync(new Uri("tcp://up:1"));
        lease.Dispose();
        Action[] uses = [() => _ = lease.Value, () => _ = lease.Info, () => lease.MarkBroken(), () => lease.Detach()];
        Assert.All(uses, static use => Assert.Contains(
            "(pool 'over hosts' (key 'tcp://up:1/')).", Assert.Throws<ObjectDisposedException>(use).Message, StringComparison.Ordinal));
    }

    private sealed class Host(Uri key) : ResourcePolicy<FakeResource>
    {
        public override ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken) =>
            key.Host == "up" ? ValueTask.FromResult(new FakeResource(1)) : throw new IOException("refused");
    }
}
