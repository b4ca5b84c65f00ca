using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Http;

/// <summary>What lab <c>http</c> counts, on a server of the test's own. Nothing here depends on how fast the machine is.</summary>
[Trait("Category", "Environment")]
public sealed class HttpProbesTests
{
    private static readonly ChildCommand Child = new("dotnet", [Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll")]);

    [Theory]
    [InlineData(HttpSubject.PerRequest, 27, 30)]
    [InlineData(HttpSubject.Shared, 0, 2)]
    [InlineData(HttpSubject.Factory, 0, 2)]
    [InlineData(HttpSubject.Leased, 0, 2)]
    public void Thirty_requests_leave_as_many_sockets_as_clients_were_closed(string way, int least, int most)
    {
        var found = HttpProbes.Sockets(way, 30);

        Assert.InRange(found[HttpProbes.TimeWait], least, most);
        Assert.Equal(100 * (30 - found[HttpProbes.TimeWait]) / 30, found[HttpProbes.WithoutSocket], 9);
    }

    [Fact]
    public void Shared_leases_follow_a_change_of_address_within_their_lifetime()
    {
        var found = HttpProbes.Switch(HttpSubject.Leased, new ProbeSite(() => { }));

        Assert.Equal(0, found[HttpProbes.Late]);
        Assert.True(found.ContainsKey("followed_after_ns"));
    }

    [Fact]
    public void One_client_without_a_lifetime_never_follows()
    {
        var found = HttpProbes.Switch(HttpSubject.Shared, new ProbeSite(() => { }));

        Assert.True(found[HttpProbes.Late] > 0);
        Assert.Equal(found["all_requests"], found["by_old_requests"]);
        Assert.False(found.ContainsKey("followed_after_ns"));
    }

    [Fact]
    public void A_client_per_request_follows_at_once() =>
        Assert.Equal(0, HttpProbes.Switch(HttpSubject.PerRequest, new ProbeSite(() => { }))["by_old_requests"]);

    [NeedsNetworkNamespace]
    public async Task Where_ports_are_few_a_client_per_request_runs_out_of_them_and_ours_does_not()
    {
        var options = new LabRunOptions { Child = Child, Processes = 1, Rounds = 1, Select = key => key.Cell["ports"] is not null };

        var outcome = (await new LabRunner(options, _ => { }).RunAsync([LabCatalog.Find("http")!], CancellationToken.None)).Labs.Single();

        Assert.DoesNotContain(outcome.Results.Dropped, row => row.Key.Cell["ports"] is not null);
        WorkloadKey each =
            outcome.Plan.Probes.Single(probe => probe.Key.Cell["ports"] is not null && probe.Key.Subject == HttpSubject.PerRequest).Key;
        Assert.True(outcome.Results.Metric(each, HttpProbes.Failed) > 0);
        var states = outcome.Verdicts.ToDictionary(verdict => verdict.Bar.Id, verdict => verdict.State);
        Assert.Equal(VerdictState.Pass, states[Bars.HttpPorts.Id]);
        Assert.Equal(VerdictState.Pass, states[Bars.HttpPortsPerRequest.Id]);
    }

    /// <summary>A fact that is skipped, and says why, where the user may not make a network namespace.</summary>
    [TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
    private sealed class NeedsNetworkNamespaceAttribute : FactAttribute, ITraitAttribute
    {
        public NeedsNetworkNamespaceAttribute()
        {
            if (NetworkNamespace.Refuse() is { } reason)
            {
                Skip = $"No network namespace of its own: {reason}";
            }
        }
    }
}
