using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>Pools start before the servers of a host and end after them.</summary>
public sealed class LifecycleTests : IDisposable
{
    private readonly ClientPolicy _policy = new();
    private readonly LogLines _log = new();
    private readonly string _name = $"life {Guid.NewGuid():N}";

    public void Dispose() => _log.Dispose();

    [Fact]
    public async Task A_pool_is_warm_before_a_server_starts()
    {
        var server = new Server();
        using IHost host = Build(server, static section => (section.MaxSize, section.WarmUp) = (4, 3));
        server.Starting = () => Assert.Equal(3, _policy.Created);
        await host.StartAsync();
        Assert.True(server.HasStarted);
        Assert.Contains($"Information 7: Pool {_name} has 3 resources ready.", _log.Lines);
        await host.StopAsync();
    }

    [Fact]
    public async Task A_pool_that_cannot_warm_up_is_logged_and_the_host_starts_all_the_same()
    {
        _policy.Failure = new IOException("refused");
        var server = new Server();
        using IHost host = Build(server, static section => (section.MaxSize, section.WarmUp) = (4, 1));
        await host.StartAsync();
        Assert.True(server.HasStarted);
        Assert.Contains(
            $"Error 8: Pool {_name} could not warm up to 1 resources; it tries again when it is rented from. <ResourceCreateException>",
            _log.Lines);
        _policy.Failure = null;
        (await host.Services.GetRequiredService<ResourcePool<Client>>().RentAsync()).Dispose();
        await host.StopAsync();
    }

    [Fact]
    public async Task A_request_in_flight_at_the_stop_keeps_its_resource_and_may_rent_another()
    {
        var server = new Server();
        using IHost host = Build(server, static section => section.MaxSize = 2);
        await host.StartAsync();
        ResourcePool<Client> pool = host.Services.GetRequiredService<ResourcePool<Client>>();
        ResourceLease<Client> held = await pool.RentAsync();
        server.Stopping = async () =>
        {
            // The last request: what it holds works, and it rents once more.
            Assert.False(held.Value.IsDisposed);
            (await pool.RentAsync()).Dispose();
            held.Dispose();
        };
        await host.StopAsync();
        Assert.True(server.HasStopped);
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(async () => await pool.RentAsync());
        Assert.Null(Pools.Find(_name));
        Assert.DoesNotContain(_log.Lines, static line => line.Contains(" 9: ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_lease_that_comes_back_within_the_grace_is_waited_for()
    {
        using IHost host = Build(new Server(), static section => (section.MaxSize, section.ShutdownGrace) = (2, Timeout.InfiniteTimeSpan));
        await host.StartAsync();
        ResourceLease<Client> held = await host.Services.GetRequiredService<ResourcePool<Client>>().RentAsync();
        Client client = held.Value;
        Task stop = host.StopAsync(CancellationToken.None);
        Assert.False(stop.IsCompleted);
        Assert.False(client.IsDisposed);
        held.Dispose();
        await stop.WaitAsync(TimeSpan.FromMinutes(1));
        Assert.True(client.IsDisposed);
    }

    [Fact]
    public async Task A_lease_that_does_not_come_back_does_not_hold_the_stop()
    {
        using IHost host = Build(new Server(), static section => (section.MaxSize, section.ShutdownGrace) = (2, TimeSpan.Zero));
        await host.StartAsync();
        ResourceLease<Client> held = await host.Services.GetRequiredService<ResourcePool<Client>>().RentAsync();
        await host.StopAsync();
        Assert.Contains($"Warning 9: Pool {_name} was shut down while 1 leases were out; the grace was 00:00:00.", _log.Lines);
        held.Dispose();
    }

    [Fact]
    public async Task The_time_of_the_host_ends_a_longer_grace()
    {
        using IHost host = Build(new Server(), static section => (section.MaxSize, section.ShutdownGrace) = (2, Timeout.InfiniteTimeSpan));
        await host.StartAsync();
        ResourceLease<Client> held = await host.Services.GetRequiredService<ResourcePool<Client>>().RentAsync();
        using var over = new CancellationTokenSource();
        Task stop = host.StopAsync(over.Token);
        Assert.False(stop.IsCompleted);
        await over.CancelAsync();
        await stop.WaitAsync(TimeSpan.FromMinutes(1));
        Assert.Contains(_log.Lines, line => line.StartsWith($"Warning 9: Pool {_name} was shut down while 1", StringComparison.Ordinal));
        held.Dispose();
    }

    [Fact]
    public async Task A_pool_without_leases_is_not_said_to_have_some_when_its_resources_end_slowly()
    {
        var ending = new TaskCompletionSource();
        _policy.Ending = ending.Task;
        using IHost host = Build(new Server(), static section => (section.MaxSize, section.WarmUp) = (2, 2));
        await host.StartAsync();
        await host.StopAsync(new CancellationToken(canceled: true)); // the time of the host is over at once
        Assert.DoesNotContain(_log.Lines, static line => line.StartsWith("Warning 9:", StringComparison.Ordinal));
        ending.SetResult();
    }

    [Fact]
    public async Task What_pools_report_is_logged_while_the_host_lives_and_not_after_it()
    {
        string name = $"logged {Guid.NewGuid():N}";
        using BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = name, Checks = PoolChecks.Default });
        using (IHost host = Build(new Server(), static section => section.MaxSize = 2))
        {
            await host.StartAsync();
            Misuse(buffers);
            _policy.Failure = new IOException("refused");
            ResourcePool<Client> pool = host.Services.GetRequiredService<ResourcePool<Client>>();
            await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
            _policy.Failure = null;
            (await pool.RentAsync()).Dispose();
            await _log.WaitForAsync($"Information 5: Pool '{_name}'"); // written after the rental that it is about went on
            await pool.ClearAsync();
            await _log.WaitForAsync($"Warning 4: Pool '{_name}'");
            await host.StopAsync();
        }

        string[] lines = [.. _log.Lines];
        Misuse(buffers);
        Assert.Equal(lines, _log.Lines.Where(line => lines.Contains(line) || line.Contains(name, StringComparison.Ordinal)));
        string[] expected =
        [
            $"Error 1: Misuse of pool {name}, DoubleReturn: A rental was returned twice.",
            $"Error 3: Pool '{_name}' could not create a resource: IOException: refused (",
            $"Warning 4: Pool '{_name}' backs off after a failed creation: ",
            $"Information 5: Pool '{_name}' creates again, after ",
            $"Information 6: Pool '{_name}' was cleared: 1 idle ones end now, ",
        ];
        Assert.All(expected, start => Assert.Single(lines, line => line.StartsWith(start, StringComparison.Ordinal)));
        Assert.EndsWith("<IOException>", lines.Single(line => line.StartsWith(expected[1], StringComparison.Ordinal)));
    }

    private static void Misuse(BufferPool<byte> pool)
    {
        BufferLease<byte> lease = pool.Rent(1);
        lease.Return();
        Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    private IHost Build(Server server, Action<ResourcePoolSection> configure)
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.AddProvider(_log).SetMinimumLevel(LogLevel.Trace);
        builder.Services.AddHostedService(_ => server); // before the pools: the order of registration decides nothing
        builder.Services.AddTidepool().AddResourcePool(_name, _ => _policy, configure);
        return builder.Build();
    }

    /// <summary>What a server does in a host.</summary>
    private sealed class Server : IHostedService
    {
        internal bool HasStarted { get; private set; }

        internal bool HasStopped { get; private set; }

        internal Action Starting { get; set; } = static () => { };

        internal Func<Task> Stopping { get; set; } = static () => Task.CompletedTask;

        public Task StartAsync(CancellationToken cancellationToken)
        {
            Starting();
            HasStarted = true;
            return Task.CompletedTask;
        }

        public async Task StopAsync(CancellationToken cancellationToken)
        {
            await Stopping();
            HasStopped = true;
        }
    }
}
