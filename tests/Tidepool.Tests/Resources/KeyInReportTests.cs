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

    private sealed class Host(Uri key) : ResourcePolicy<FakeResource>
    {
        public override ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken) =>
            key.Host == "up" ? ValueTask.FromResult(new FakeResource(1)) : throw new IOException("refused");
    }
}
