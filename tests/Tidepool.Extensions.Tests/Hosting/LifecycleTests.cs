using System.Runtime.CompilerServices;
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
    public async Task A_section_without_a_pool_is_named_at_the_start_with_the_pool_that_was_meant()
    {
        using IHost host = Build(
            new Server(),
            static section => section.MaxSize = 4,
            ($"Tidepool:Pools:{_name.Replace("life", "Lief", StringComparison.Ordinal)}:MaxSize", "7"),
            ("Tidepool:Pools:something else:MaxSize", "7"),
            ($"tidepool:pools:{_name.ToUpperInvariant()}:MinIdle", "1"));
        await host.StartAsync();
        Assert.Equal(
            [
                $"Warning 10: The configuration has Tidepool:Pools:{_name.Replace("life", "Lief", StringComparison.Ordinal)}, and no pool "
                    + $"has that name: it is not read. Did you mean '{_name}'?",
                "Warning 10: The configuration has Tidepool:Pools:something else, and no pool has that name: it is not read. "
                    + $"Registered are: {_name}.",
            ],
            _log.Lines.Where(static line => line.StartsWith("Warning 10", StringComparison.Ordinal)).Order(StringComparer.Ordinal));
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

    [Fact]
    [Trait("Category", "Environment")] // a lease is out for a real time
    public async Task A_lease_that_is_out_for_too_long_is_logged_as_a_leak_with_the_place_of_its_rental()
    {
        using IHost host = Build(
            new Server(),
            static section => (section.MaxSize, section.LeakThreshold, section.LeakCapture)
                = (1, TimeSpan.FromMilliseconds(20), LeakCapture.Stack));
        await host.StartAsync();
        using (await host.Services.GetRequiredService<ResourcePool<Client>>().RentAsync())
        {
            await _log.WaitForAsync($"Warning 2: Leak of pool {_name}: ");
        }

        string line = _log.Lines.First(static line => line.StartsWith("Warning 2:", StringComparison.Ordinal));
        Assert.Contains(nameof(A_lease_that_is_out_for_too_long_is_logged_as_a_leak_with_the_place_of_its_rental), line);
        Assert.DoesNotContain("Error 1:", string.Join('\n', _log.Lines), StringComparison.Ordinal);
        await host.StopAsync();
    }

    [Fact]
    public async Task A_rental_that_is_dropped_is_logged_as_a_leak()
    {
        string name = $"dropped {Guid.NewGuid():N}";
        using BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = name, Checks = PoolChecks.Full });
        using IHost host = Build(new Server(), static section => section.MaxSize = 1);
        await host.StartAsync();
        Drop(buffers);
        long deadline = Environment.TickCount64 + 60_000;
        while (!_log.Lines.Any(line => line.StartsWith($"Warning 2: Leak of pool {name}: ", StringComparison.Ordinal)))
        {
            Assert.True(Environment.TickCount64 < deadline, string.Join('\n', _log.Lines));
            GC.Collect();
            GC.WaitForPendingFinalizers();
            await Task.Delay(1);
        }

        await host.StopAsync();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(BufferPool<byte> pool)
    {
        for (int i = 0; i < 8; i++)
        {
            _ = pool.Rent(100).Length; // several, so that a register that still has one does not matter
        }
    }

    private static void Misuse(BufferPool<byte> pool)
    {
        BufferLease<byte> lease = pool.Rent(1);
        lease.Return();
        Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    private IHost Build(Server server, Action<ResourcePoolSection> configure, params (string Key, string Value)[] settings)
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        foreach ((string key, string value) in settings)
        {
            builder.Configuration[key] = value;
        }

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
