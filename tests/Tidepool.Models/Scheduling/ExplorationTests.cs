using Tidepool.Models.Scenarios;
using Xunit.Abstractions;

namespace Tidepool.Models.Scheduling;

/// <summary>The tiers as they are compiled for use, with the points that stand in their source.</summary>
public class ExplorationTests(ITestOutputHelper output)
{
    private const int Schedules = 6_000;
    private const int StreamSchedules = 2_000; // each of them uses nine streams
    private const int DisposeSchedules = 2_000; // threads wait for the one that disposes, which takes the scheduler some time to notice

    [Fact]
    public void An_owner_and_the_visitors_of_its_magazine_never_lose_or_share_a_buffer() => Explore(new ShardScenario());

    [Fact]
    public void Threads_that_fill_and_empty_magazines_through_the_shared_tier_never_lose_or_share_a_buffer() =>
        Explore(new ExchangeScenario());

    [Fact]
    public void Racing_returns_of_one_lease_end_its_rental_once() => Explore(new TicketScenario());

    [Fact]
    public void A_slot_that_an_old_posting_holds_never_changes_its_home() => Explore(new HomeScenario());

    [Fact]
    public void What_waits_in_an_outbox_reaches_its_home_once_whoever_posts_it() => Explore(new OutboxScenario());

    [Fact]
    public void The_budget_gets_back_what_a_wide_inbox_is_charged() => Explore(new InboxScenario());

    [Fact]
    public void A_count_amid_rentals_and_returns_is_off_by_what_they_move_at_most() => Explore(new CountScenario());

    [Fact]
    public void What_the_inbox_of_a_handle_cannot_take_is_settled_once() => Explore(new HandleScenario());

    [Fact]
    public void An_object_is_in_one_place_at_a_time_whatever_renters_and_policies_do() => Explore(new ObjectScenario());

    [Fact]
    public void Of_racing_returns_of_a_raw_object_to_a_tight_pool_one_is_accepted() => Explore(new TwiceScenario());

    [Fact]
    public void An_item_that_rests_is_rented_by_one_and_only_after_others() => Explore(new RestScenario());

    [Fact]
    public void Changes_of_a_stream_never_meet_the_release_of_its_core() => Explore(new StreamScenario(), StreamSchedules);

    [Fact]
    public void A_pool_that_is_disposed_in_the_middle_gives_everything_to_its_source() => Explore(new DisposeScenario(), DisposeSchedules);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void No_two_preemptions_break_a_short_program_of_racing_returns(int program)
    {
        (string? failure, int schedules) = Explorer.Search(new ShortScenario(program), preemptions: 2, limit: 40_000);
        output.WriteLine($"{schedules} schedules");
        Assert.True(failure is null, failure);
    }

    private void Explore(IScenario scenario, int schedules = Schedules)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        string? failure = Explorer.Explore(scenario, schedules);
        Assert.True(failure is null, failure);
    }
}
