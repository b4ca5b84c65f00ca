using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Barriers;

/// <summary>
/// The scheduler of this project runs one thread at a time and so never shows what store buffers do; these tests do, on models of the
/// protocols that <c>Magazine</c> and <c>Inbox</c> implement.
/// </summary>
public class ProtocolTests(ITestOutputHelper output)
{
    private const int Schedules = 20_000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void With_the_barrier_no_state_has_both_inside_or_loses_an_update(bool closes)
    {
        var protocol = new ShardProtocol(hasBarrier: true, closes: closes);
        Assert.Null(protocol.VisitAll());
        output.WriteLine($"{protocol.States} states");
        Assert.True(protocol.States > 100, "the model does not move");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Without_the_barrier_both_can_be_inside(bool closes) =>
        Assert.Contains("both are inside", new ShardProtocol(hasBarrier: false, closes: closes).VisitAll());

    [Fact]
    public void A_barrier_before_the_owner_is_asked_to_stay_out_does_not_help() =>
        Assert.Contains("both are inside", new ShardProtocol(hasBarrier: true, barrierComesFirst: true).VisitAll());

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void A_post_to_a_closing_inbox_is_collected_when_the_poster_has_a_fence_or_the_closer_a_barrier(bool fence, bool barrier) =>
        Assert.Null(new ClosingProtocol(fence, barrier).VisitAll());

    [Fact]
    public void Without_either_a_post_to_a_closing_inbox_can_be_lost() =>
        Assert.Contains("nobody collects", new ClosingProtocol(posterHasFence: false, closerHasBarrier: false).VisitAll());

    [Fact]
    public void Random_schedules_agree_with_the_search_of_all_states()
    {
        output.WriteLine($"seed {Explorer.Seed}");
        var random = new Random(Explorer.Seed);
        var right = new ShardProtocol(hasBarrier: true);
        var wrong = new ShardProtocol(hasBarrier: false);
        int faults = 0;
        for (int i = 0; i < Schedules; i++)
        {
            Assert.True(right.Walk(random) is not { } fault, $"schedule {i} of seed {Explorer.Seed}");
            faults += wrong.Walk(random) is null ? 0 : 1;
        }

        output.WriteLine($"{faults} of {Schedules} schedules break the protocol without its barrier");
        Assert.True(faults > 0, $"no schedule of seed {Explorer.Seed} found the missing barrier");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_core_is_changed_or_released(bool isLease) => Assert.Null(new DisposalProtocol(isLease, asksTicket: isLease).VisitAll());

    [Fact]
    public void A_change_that_does_not_ask_for_the_ticket_may_meet_the_release() =>
        Assert.NotNull(new DisposalProtocol(isLease: true, asksTicket: false).VisitAll());
}
