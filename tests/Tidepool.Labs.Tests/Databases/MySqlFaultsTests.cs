namespace Tidepool.Labs.Tests.Databases;

/// <summary>Faults of a MariaDB under writing callers: our pool beside the provider's own.</summary>
public sealed class MySqlFaultsTests
{
    [Servers.MariaDbTheory]
    [Trait("Category", "Slow")]
    [InlineData("Killed")]
    [InlineData("Restart")]
    [InlineData("Switchover")]
    [InlineData("Silent")]
    public async Task No_more_requests_fail_than_with_the_providers_own_pool_and_all_callers_are_served_again(string fault)
    {
        MySqlFault kind = Enum.Parse<MySqlFault>(fault);
        IReadOnlyList<FaultCaller> ours = await MySqlFaults.MeasureAsync(kind, PoolKind.Tidepool, Faults.Watched);
        IReadOnlyList<FaultCaller> providers = await MySqlFaults.MeasureAsync(kind, PoolKind.Provider, Faults.Watched);

        Assert.All(ours, static caller => Assert.True(caller.IsServed, $"{caller}"));
        int most = providers.Sum(static caller => caller.Failed);
        Assert.InRange(ours.Sum(static caller => caller.Failed), 0, most);
        Assert.True(most > 0, "nothing happened");
    }

    [Servers.MariaDbFact]
    [Trait("Category", "Slow")]
    public async Task When_all_sessions_are_ended_each_caller_learns_of_it_once_at_most()
    {
        IReadOnlyList<FaultCaller> ours = await MySqlFaults.MeasureAsync(MySqlFault.SessionsEnded, PoolKind.Tidepool, Faults.Watched);

        Assert.All(ours, static caller => Assert.True(caller.IsServed, $"{caller}"));
        Assert.InRange(ours.Sum(static caller => caller.Failed), 0, Faults.Callers);
    }

    /// <summary>
    /// The server closes its sessions, too: each caller may learn of it once. How often callers meet the limit depends on how many write
    /// at a time, with the provider's pool as with ours.
    /// </summary>
    [Servers.MariaDbFact]
    [Trait("Category", "Slow")]
    public async Task A_full_server_fails_no_more_requests_than_with_the_providers_own_pool_and_those_of_ended_sessions()
    {
        IReadOnlyList<FaultCaller> ours = await MySqlFaults.MeasureAsync(MySqlFault.Full, PoolKind.Tidepool, Faults.Watched);
        IReadOnlyList<FaultCaller> providers = await MySqlFaults.MeasureAsync(MySqlFault.Full, PoolKind.Provider, Faults.Watched);

        Assert.All(ours, static caller => Assert.True(caller.IsServed, $"{caller}"));
        Assert.InRange(ours.Sum(static caller => caller.Failed), 0, providers.Sum(static caller => caller.Failed) + Faults.Callers);
    }
}
