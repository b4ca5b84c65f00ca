using System.Data.Common;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Tidepool.Data;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>What health checks say of pools.</summary>
public sealed class HealthTests : IAsyncDisposable
{
    private readonly ClientPolicy _policy = new();
    private readonly string _name = $"health {Guid.NewGuid():N}";
    private ServiceProvider? _provider;

    static HealthTests() => SQLitePCL.Batteries_V2.Init();

    private ResourcePool<Client> Pool => _provider!.GetRequiredService<ResourcePool<Client>>();

    public async ValueTask DisposeAsync()
    {
        if (_provider is not null)
        {
            await _provider.DisposeAsync();
        }
    }

    [Fact]
    public async Task Every_resource_pool_and_data_source_has_a_check_and_is_healthy_with_numbers()
    {
        Build(static section => section.MaxSize = 2);
        HealthReport report = await ReportAsync();
        Assert.Equal(
            [$"tidepool:{_name}", $"tidepool:{_name} db", $"tidepool:{_name} keys"],
            report.Entries.Keys.Order(StringComparer.Ordinal));
        Assert.Equal(HealthStatus.Healthy, report.Status);
        HealthReportEntry entry = report.Entries[$"tidepool:{_name}"];
        Assert.Equal($"Pool '{_name}': 0 leased of 2, 1 idle, 0 waiting.", entry.Description);
        Assert.Equal((0, 1, 2), (entry.Data["leased"], entry.Data["idle"], entry.Data["maxSize"]));
        Assert.Equal(["tidepool"], entry.Tags);
    }

    [Fact]
    public async Task A_pool_without_a_resource_that_cannot_create_one_is_unhealthy_with_the_last_error()
    {
        Build(static section => section.MaxSize = 2);
        _policy.Failure = new IOException("refused");
        HealthReportEntry entry = await EntryAsync();
        Assert.Equal(HealthStatus.Unhealthy, entry.Status);
        Assert.Same(_policy.Failure, entry.Exception);
        Assert.Equal(
            $"Pool '{_name}' has no resource and cannot create one: 0 leased of 2, 0 idle, 0 waiting. IOException: refused",
            entry.Description);

        _policy.Failure = null;
        await Pool.ClearAsync();
        Assert.Equal(HealthStatus.Healthy, (await EntryAsync()).Status);
    }

    [Fact]
    public async Task A_pool_that_serves_what_it_has_and_cannot_create_more_is_degraded()
    {
        Build(static section => section.MaxSize = 2);
        using ResourceLease<Client> held = await Pool.RentAsync();
        _policy.Failure = new IOException("refused");
        HealthReportEntry entry = await EntryAsync();
        Assert.Equal(HealthStatus.Degraded, entry.Status);
        Assert.Same(_policy.Failure, entry.Exception);
        Assert.Equal(
            $"Pool '{_name}' serves what it has and cannot create more: 1 leased of 2, 0 idle, 0 waiting. IOException: refused",
            entry.Description);
    }

    [Fact]
    public async Task A_creation_that_failed_once_does_not_keep_a_pool_degraded()
    {
        Build(static section => section.MaxSize = 2);
        using (ResourceLease<Client> held = await Pool.RentAsync())
        {
            _policy.Failure = new IOException("refused");
            await Assert.ThrowsAsync<ResourceCreateException>(async () => await Pool.RentAsync());
        }

        _policy.Failure = null;
        Assert.Equal(HealthStatus.Degraded, (await EntryAsync()).Status); // since the last check
        HealthReportEntry entry = await EntryAsync();
        Assert.NotNull(Pool.GetStatistics().LastCreateError);
        Assert.Equal((HealthStatus.Healthy, null), (entry.Status, entry.Exception));
    }

    [Fact]
    public async Task A_pool_that_may_not_be_probed_is_asked_to_try_again()
    {
        Build(static section => (section.MaxSize, section.ProbeTimeout) = (2, TimeSpan.Zero));
        _policy.Failure = new IOException("refused");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await Pool.RentAsync());
        Assert.Equal(HealthStatus.Unhealthy, (await EntryAsync()).Status);
        HealthReportEntry entry = await EntryAsync(); // an unhealthy program would get no caller that could end this
        Assert.Equal(HealthStatus.Degraded, entry.Status);
        Assert.StartsWith($"Pool '{_name}' has no resource, and the last creation failed: 0 leased of 2, ", entry.Description);
    }

    [Fact]
    public async Task One_key_that_fails_is_no_outage_of_the_others()
    {
        Build(static section => section.MaxSize = 2);
        KeyedResourcePool<int, Client> keyed = _provider!.GetRequiredService<KeyedResourcePool<int, Client>>();
        _policy.Failure = new IOException("refused");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await keyed.RentAsync(1));
        HealthReportEntry entry = (await ReportAsync()).Entries[$"tidepool:{_name} keys"];
        Assert.NotEqual(HealthStatus.Unhealthy, entry.Status); // healthy where the pool has forgotten the key, which only failed, already

        _policy.Failure = null;
        (await keyed.RentAsync(2)).Dispose();
        Assert.NotEqual(HealthStatus.Unhealthy, (await ReportAsync()).Status);
        Assert.Equal(HealthStatus.Healthy, (await ReportAsync()).Entries[$"tidepool:{_name} keys"].Status); // no failure since the last
    }

    [Fact]
    public async Task A_pool_whose_callers_time_out_is_degraded_until_the_check_after_the_last_one()
    {
        Build(static section => section.MaxSize = 1);
        ResourceLease<Client> held = await Pool.RentAsync();
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(async () => await Pool.RentAsync(TimeSpan.Zero));
        HealthReportEntry entry = await EntryAsync();
        Assert.Equal(HealthStatus.Degraded, entry.Status);
        Assert.Equal(
            $"Pool '{_name}' is too small for its callers: 1 rentals timed out and 0 were refused since the last check. "
                + "1 leased of 1, 0 idle, 0 waiting.",
            entry.Description);
        Assert.Equal(HealthStatus.Healthy, (await EntryAsync()).Status); // fully used, and no caller waits
        ValueTask<ResourceLease<Client>> waiting = Pool.RentAsync();
        Assert.Equal(HealthStatus.Degraded, (await EntryAsync()).Status);
        Assert.Equal(1, Pool.GetStatistics().Waiting); // the check stood in no queue
        held.Dispose();
        (await waiting).Dispose();
    }

    [Fact]
    public async Task A_pool_has_one_check_however_often_they_are_added()
    {
        var services = new ServiceCollection();
        services.AddLogging();
        services.AddTidepool().AddResourcePool(_name, _ => _policy, static section => section.MaxSize = 2);
        services.AddHealthChecks().AddTidepool(tags: ["ready"]).AddTidepool(tags: ["live"]);
        _provider = services.BuildServiceProvider();
        Assert.Equal(["ready"], Assert.Single((await ReportAsync()).Entries).Value.Tags);
    }

    [Fact]
    public void Listing_the_checks_makes_no_pool()
    {
        Build(static section => section.MaxSize = 2);
        Assert.NotNull(_provider!.GetRequiredService<HealthCheckService>());
        Assert.DoesNotContain(Pools.All, pool => pool.Name.StartsWith(_name, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_check_that_may_not_rent_does_not()
    {
        Build(static section => (section.MaxSize, section.ProbeTimeout) = (2, TimeSpan.Zero));
        Assert.Equal(HealthStatus.Healthy, (await EntryAsync()).Status);
        Assert.Equal(0, _policy.Created);
    }

    [Fact]
    public async Task A_pool_that_was_shut_down_is_what_the_program_says_a_failure_is()
    {
        Build(static section => section.MaxSize = 2, HealthStatus.Degraded);
        Assert.Equal(HealthStatus.Healthy, (await EntryAsync()).Status);
        Assert.True(await Pool.ShutdownAsync(TimeSpan.FromMinutes(1)));
        HealthReportEntry entry = await EntryAsync();
        Assert.Equal((HealthStatus.Degraded, $"Pool '{_name}' was shut down."), (entry.Status, entry.Description));
    }

    [Fact]
    public async Task A_database_that_cannot_be_opened_is_unhealthy_with_the_providers_error()
    {
        Build(static section => section.MaxSize = 2, null, "Data Source=/nowhere/at/all.db");
        HealthReportEntry entry = (await ReportAsync()).Entries[$"tidepool:{_name} db"];
        Assert.Equal(HealthStatus.Unhealthy, entry.Status);
        Assert.IsAssignableFrom<DbException>(entry.Exception);
        Assert.IsNotType<PooledDbException>(entry.Exception);
    }

    private void Build(Action<ResourcePoolSection> configure, HealthStatus? failure = null, string database = "Data Source=:memory:")
    {
        var services = new ServiceCollection();
        services.AddLogging();
        services.AddHealthChecks().AddTidepool(failure); // before the pools: the order of registration decides nothing
        services.AddTidepool()
            .AddResourcePool(_name, _ => _policy, configure)
            .AddKeyedResourcePool<int, Client>(
                $"{_name} keys", (_, _) => _policy, static section => (section.MaxSize, section.MaxTotal) = (1, 4))
            .AddDbDataSource($"{_name} db", SqliteFactory.Instance, section => section.ConnectionString = database);
        _provider = services.BuildServiceProvider();
    }

    private Task<HealthReport> ReportAsync() => _provider!.GetRequiredService<HealthCheckService>().CheckHealthAsync();

    private async Task<HealthReportEntry> EntryAsync() => (await ReportAsync()).Entries[$"tidepool:{_name}"];
}
