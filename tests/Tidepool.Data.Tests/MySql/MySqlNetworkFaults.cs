using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.MySql;

/// <summary>What happens between the pool and the server: partitions, ends of connections in every manner, and slowness.</summary>
public sealed class MySqlNetworkFaults(MySqlServer server) : MySqlFaultTest(server)
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(150);

    [MySqlFact]
    public Task In_a_partition_the_deadline_of_a_rental_holds_and_all_goes_on_afterwards() => NetworkParts.PartAsync(this);

    [MySqlFact]
    public async Task In_a_partition_a_shutdown_is_not_stuck()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(4) with { ValidateAfterIdle = TimeSpan.Zero, PolicyTimeout = Short }, proxy.Port);
        PooledDbConnection held = await pool.OpenConnectionAsync();
        proxy.SetBlackhole(true);
        Task<Exception?> hanging = Task.Run(async () => (Exception?)await TryAskAsync(held));
        Task<Exception?>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(async () => (Exception?)await TryUseAsync(pool)))];
        await UntilAsync(() => pool.GetStatistics() is { Creating: > 0 } or { Checking: > 0 }, "an operation runs");

        Assert.False(await pool.ShutdownAsync(Short)); // a lease is out

        foreach (Task<Exception?> one in waiting)
        {
            Assert.IsType<ResourcePoolShutdownException>(Assert.IsType<PooledDbException>(await one).PoolError);
        }

        proxy.ResetAll();
        Assert.NotNull(await hanging);
        Assert.True(await pool.ShutdownAsync(Never));
    }

    [MySqlTheory]
    [InlineData("half-open")]
    [InlineData("RST")]
    [InlineData("FIN")]
    public Task Connections_that_end_behind_the_pool_cost_one_error_at_first_use_and_none_when_they_are_validated(string end) =>
        NetworkParts.EndBehindThePoolAsync(this, end);

    [MySqlFact]
    public Task While_sessions_open_slowly_returns_serve_those_who_wait_and_a_cancellation_is_heard_at_once() =>
        NetworkParts.OpenSlowlyAsync(this);

    [MySqlFact]
    public Task A_slow_server_loses_no_session() => NetworkParts.BeSlowAsync(this);

    [MySqlFact]
    public Task A_caller_that_blocks_is_told_that_a_silent_server_opens_no_session() => NetworkParts.BlockInAnOpeningAsync(this);

    [MySqlFact]
    public Task A_caller_that_blocks_is_served_after_a_session_that_does_not_answer() => NetworkParts.BlockInAValidationAsync(this);
}
