using System.Globalization;

namespace Tidepool.Advice.Tests.Pools;

/// <summary>The verdict that each kind of pool gets.</summary>
public sealed class PoolJudgeTests
{
    private static readonly PoolSample Start =
        new() { Name = "uploads", Kind = "Buffers", ElementBytes = 1, BudgetBytes = 8192, Seconds = 1 };

    private static readonly PoolSample Resources = new() { Name = "orders", Kind = "Resources", MaxSize = 4, Waiting = 0, Seconds = 1 };

    [Fact]
    public void A_pool_that_hits_is_kept()
    {
        PoolAdvice advice = Judge(Start, Start with { Rented = 10_000, Missed = 900, Seconds = 11 });
        Assert.Equal((PoolVerdict.Keep, 1000.0, 0.91), (advice.Verdict, advice.RentedPerSecond, advice.HitRate));
    }

    [Fact]
    public void Few_rentals_decide_nothing() =>
        Assert.Equal(PoolVerdict.NotEnoughEvidence, Judge(Start, Start with { Rented = 999, Missed = 999, Seconds = 11 }).Verdict);

    [Fact]
    public void Misses_after_drops_get_the_room_that_would_have_served_them()
    {
        PoolAdvice advice = Judge(
            Start,
            Start with { Rented = 10_000, Missed = 5000, Dropped = 5000, Seconds = 11 },
            new PoolClass
            {
                Length = 1024, Bytes = 1024, IsKept = true, Missed = 5000, Dropped = 5000, Served = [100, 200, 4600, 4800, 4900],
            });
        PoolFinding finding = Assert.Single(advice.Findings);
        Assert.Equal((PoolVerdict.Change, "capacity"), (finding.Verdict, finding.Subject));
        Assert.Equal(("Budget = 8_192,", "Budget = 12_288,"), (finding.Before, finding.After)); // 4 more: 4600 are nine tenths of 4900
        Assert.Contains("4 more of 1024 elements (4.1 kB) would have served 92% of these misses", finding.Reason, StringComparison.Ordinal);
        Assert.Equal(
            [(0, 0.5), (1, 0.51), (2, 0.52), (4, 0.96), (8, 0.98), (16, 0.99)],
            advice.HitRates!.Select(static rate => (rate.Places, Math.Round(rate.HitRate, 6))));
    }

    [Fact]
    public void The_budget_of_objects_is_counted_in_objects()
    {
        PoolSample start = Start with { Kind = "Objects", ElementBytes = 0, BudgetBytes = 4 * 1024 };
        PoolAdvice advice = Judge(
            start,
            start with { Rented = 10_000, Missed = 5000, Seconds = 11 },
            new PoolClass { Length = 1, Bytes = 1024, IsKept = true, Served = [0, 5000] });
        Assert.Equal(("Budget = 4,", "Budget = 6,"), (advice.Findings[0].Before, advice.Findings[0].After));
    }

    [Fact]
    public void Without_a_budget_of_its_own_no_number_is_suggested()
    {
        PoolSample start = Start with { BudgetBytes = -1 };
        PoolAdvice advice = Judge(
            start,
            start with { Rented = 10_000, Missed = 5000, Seconds = 11 },
            new PoolClass { Length = 1024, Bytes = 1024, IsKept = true, Served = [5000] });
        Assert.Equal((PoolVerdict.Change, null), (advice.Verdict, advice.Findings[0].After));
        Assert.Contains("budget of the process", advice.Findings[0].Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Lengths_that_the_pool_does_not_keep_are_named()
    {
        PoolAdvice advice = Judge(
            Start,
            Start with { Rented = 10_000, Missed = 5000, Seconds = 11 },
            new PoolClass { Length = 70_000, Bytes = 70_000, Missed = 3000 },
            new PoolClass { Length = 90_000, Bytes = 90_000, Missed = 1000 });
        PoolFinding finding = advice.Findings[0];
        Assert.Equal((PoolVerdict.Change, "oversize"), (finding.Verdict, finding.Subject));
        Assert.Contains("70000 300/s, 90000 100/s", finding.Reason, StringComparison.Ordinal);
        Assert.StartsWith("MaxLength = 90000,", finding.After, StringComparison.Ordinal);
    }

    [Fact]
    public void Items_that_do_not_come_back_are_a_leak_and_no_lack_of_room()
    {
        PoolAdvice advice = Judge(Start, Start with { Rented = 10_000, Missed = 5000, Leased = 4000, Seconds = 11 });
        Assert.Equal((PoolVerdict.Suspect, "leak"), (advice.Verdict, advice.Findings[0].Subject));
    }

    [Theory]
    [InlineData(4000, 0, "trimming is for")]
    [InlineData(0, 4000, "policy refused")]
    [InlineData(0, 0, "still growing")]
    public void Misses_of_another_cause_are_explained(long trimmed, long refused, string reason)
    {
        PoolAdvice advice = Judge(
            Start, Start with { Rented = 10_000, Missed = 5000, Trimmed = trimmed, Refused = refused, Seconds = 11 });
        Assert.Equal(PoolVerdict.NotEnoughEvidence, advice.Verdict);
        Assert.Contains(reason, advice.Findings[0].Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Misuse_is_a_fault_and_comes_first_with_the_report_of_its_place()
    {
        PoolSample end = Start with { Rented = 10_000, MisuseKinds = "DoubleReturn=2 NeverReturned=1", Seconds = 11 };
        PoolAdvice advice = PoolJudge.Judge(
            new PoolRecord { First = Start, Last = end, Reports = [new("NeverReturned: rented at Orders.Load", 1)] }, new PoolLimits());
        Assert.Equal(
            [(PoolVerdict.Fault, "misuse"), (PoolVerdict.Fault, "leak"), (PoolVerdict.Keep, "capacity")],
            advice.Findings.Select(static finding => (finding.Verdict, finding.Subject)));
        Assert.Contains("2 rentals were returned twice: proved by the pool", advice.Findings[0].Reason, StringComparison.Ordinal);
        Assert.Contains("PoolChecks.Full", advice.Findings[0].After, StringComparison.Ordinal);
        Assert.Equal(("NeverReturned: rented at Orders.Load", null), (Assert.Single(advice.Findings[1].Reports), advice.Findings[1].After));
    }

    [Fact]
    public void Leaks_are_counted_for_each_call_site_and_the_most_frequent_are_shown()
    {
        PoolSample end = Start with { Rented = 10_000, MisuseKinds = "NeverReturned=40", Seconds = 11 };
        PoolNotice[] notices = [.. Enumerable.Range(1, 8).Reverse().Select(static i => new PoolNotice($"NeverReturned: rented at {i}", i))];
        PoolFinding leak = PoolJudge.Judge(
            new PoolRecord { First = Start, Last = end, Reports = [new("DoubleReturn: elsewhere", 9), .. notices] }, new PoolLimits())
            .Findings[0];
        Assert.Equal("leak", leak.Subject);
        Assert.Equal([8, 7, 6, 5, 4], leak.Reports.Select(static text => int.Parse(text.Split(' ')[0], CultureInfo.InvariantCulture)));
        Assert.StartsWith("8 times here: NeverReturned: rented at 8", leak.Reports[0], StringComparison.Ordinal);
    }

    [Fact]
    public void A_full_pool_whose_oldest_lease_is_older_than_the_window_is_suspected_to_leak()
    {
        PoolSample end = Resources with
        {
            Rented = 500, Leased = 4, Waiting = 2, OldestMilliseconds = 11_000, OldestSite = "at Load", Seconds = 11,
        };
        PoolAdvice advice = Judge(Resources, end);
        Assert.Equal((PoolVerdict.Suspect, "leak"), (advice.Verdict, advice.Findings[0].Subject));
        Assert.Contains("rented at Load", advice.Findings[0].Reason, StringComparison.Ordinal);
        Assert.Contains("LeakCapture", Judge(Resources, end with { OldestSite = "" }).Findings[0].After, StringComparison.Ordinal);
    }

    [Fact]
    public void A_full_pool_gets_the_size_for_its_load()
    {
        PoolSample end = Resources with { Rented = 1000, Leased = 4, Waiting = 2, OldestMilliseconds = 50, Seconds = 11 };
        PoolAdvice advice = PoolJudge.Judge(new PoolRecord { First = Resources, Last = end, MeanLeased = 4 }, new PoolLimits());
        int size = new PoolLoad { RentalsPerSecond = 100, HoldTime = TimeSpan.FromMilliseconds(40) }.Advise().Size;
        Assert.Equal((PoolVerdict.Change, $"MaxSize = {size},"), (advice.Verdict, advice.Findings[0].After));
        Assert.True(size > 4);
    }

    [Fact]
    public void A_pool_that_makes_a_resource_for_many_rentals_shall_keep_more_idle()
    {
        PoolAdvice advice = PoolJudge.Judge(
            new PoolRecord
            {
                First = Resources,
                Last = Resources with { Rented = 1000, Missed = 200, Dropped = 200, Seconds = 11 },
                MeanLeased = 1.5,
            },
            new PoolLimits());
        Assert.Equal((PoolVerdict.Change, "MinIdle = 2,"), (advice.Verdict, advice.Findings[0].After));
        Assert.Equal(PoolVerdict.Keep, Judge(Resources, Resources with { Rented = 1000, Missed = 20, Seconds = 11 }).Verdict);
    }

    [Fact]
    public void Counts_of_a_pool_begin_with_its_first_answer()
    {
        var history = new PoolHistory();
        for (int round = 1; round <= 3; round++)
        {
            history.Report("uploads", "Overdue: each second"); // before the first answer, too
            history.Add(Start with { Rented = 100 * round, Leased = round, Seconds = round });
            history.Add(
                "uploads",
                new PoolClass { Length = 64, IsKept = true, Missed = 10 * round, Dropped = 5 * round, Served = [round, 2 * round] });
            history.Report("uploads", $"Overdue: at {Math.Min(round, 2)}");
        }

        history.Add(Start with { Name = "seen once" });
        PoolRecord record = Assert.Single(history.Close());
        Assert.Equal((200, 2.0, 2.0), (record.Last.Rented - record.First.Rented, record.Seconds, record.MeanLeased));
        PoolClass found = Assert.Single(record.Classes);
        Assert.Equal((20L, 10L), (found.Missed, found.Dropped));
        Assert.Equal([2L, 4L], found.Served);
        Assert.Equal([new("Overdue: each second", 3), new("Overdue: at 2", 2), new("Overdue: at 1", 1)], record.Reports);
    }

    private static PoolAdvice Judge(PoolSample first, PoolSample last, params PoolClass[] classes) =>
        PoolJudge.Judge(new PoolRecord { First = first, Last = last, Classes = classes }, new PoolLimits());
}
