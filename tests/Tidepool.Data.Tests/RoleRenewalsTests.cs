namespace Tidepool.Data.Tests;

/// <summary>When sessions are made anew because a write was refused: a function of generations and moments.</summary>
public sealed class RoleRenewalsTests
{
    [Fact]
    public void The_first_refusal_renews_and_so_does_every_session_of_that_time()
    {
        var renewals = new RoleRenewals();
        Assert.True(renewals.TryRenew(7, 1000));
        Assert.True(renewals.TryRenew(7, 1001)); // it ends with the others
        Assert.False(renewals.TryRenew(8, 1099)); // made since, and refused: renewing has not helped
        Assert.True(renewals.TryRenew(8, 1100));
    }

    [Fact]
    public void A_refusal_after_a_writer_was_seen_is_a_renewal_of_its_own_whatever_session_reports_it()
    {
        var renewals = new RoleRenewals();
        Assert.True(renewals.TryRenew(5, 0));
        renewals.SeeWriter();
        Assert.True(renewals.TryRenew(4, 10)); // of a time before
        Assert.False(renewals.TryRenew(6, 20)); // made since, and refused
    }

    [Theory]
    [InlineData(1)]
    [InlineData(50)]
    [InlineData(700)]
    public void While_the_server_stays_read_only_the_pause_between_renewals_doubles(long every)
    {
        var renewals = new RoleRenewals();
        int generation = 0;
        List<long> at = [];
        for (long now = 0; now < 100_000; now += every)
        {
            if (renewals.TryRenew(generation, now))
            {
                at.Add(now);
                generation++;
            }
        }

        long pause = RoleRenewals.ShortestPause;
        for (int i = 1; i < at.Count; i++, pause = Math.Min(2 * pause, RoleRenewals.LongestPause))
        {
            Assert.InRange(at[i] - at[i - 1], pause, pause + every);
        }

        Assert.InRange(at.Count, 14, 18);
    }

    [Fact]
    public void A_session_that_writes_or_a_long_time_without_refusals_makes_the_next_one_news()
    {
        var renewals = new RoleRenewals();
        Assert.True(renewals.TryRenew(0, 0));
        Assert.False(renewals.TryRenew(1, 50));
        renewals.SeeWriter();
        Assert.True(renewals.TryRenew(1, 60));
        Assert.True(renewals.TryRenew(2, 160));
        Assert.True(renewals.TryRenew(3, 360));
        Assert.False(renewals.TryRenew(4, 700));
        Assert.True(renewals.TryRenew(4, 360 + RoleRenewals.Memory + 1));
        Assert.False(renewals.TryRenew(5, 360 + RoleRenewals.Memory + 50));
        Assert.True(renewals.TryRenew(5, 360 + RoleRenewals.Memory + 1 + RoleRenewals.ShortestPause)); // as after the first one
    }
}
