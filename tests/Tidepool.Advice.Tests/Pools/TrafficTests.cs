namespace Tidepool.Advice.Tests.Pools;

/// <summary>What the order of rentals and returns says of a pool.</summary>
public sealed class TrafficTests
{
    private static readonly (bool, int) Shared = (false, 7);

    [Fact]
    public void Rentals_are_counted_for_every_capacity()
    {
        var reader = new TrafficReader();
        for (int turn = 0; turn < 100; turn++)
        {
            for (int id = 0; id < 4; id++)
            {
                reader.Rented(Shared, 1024, id);
            }

            for (int id = 0; id < 4; id++)
            {
                reader.Returned(Shared, 1024, id);
            }
        }

        LengthTraffic length = Assert.Single(Assert.Single(reader.Close(lost: 0)).Lengths);
        Assert.Equal((400L, 400L, 4, 0L), (length.Rented, length.Returned, length.Ids, length.SuspectedReturns));
        Assert.Equal([99L, 198L, 396L, 396L], length.Served.Take(4));
    }

    [Fact]
    public void A_second_return_is_suspected_where_the_array_is_known()
    {
        var reader = new TrafficReader();
        reader.Rented(Shared, 1024, 1);
        reader.Allocated(Shared, 1024, 1);
        reader.Returned(Shared, 1024, 1);
        reader.Returned(Shared, 1024, 1);
        reader.Returned(Shared, 1024, 2); // rented before the window
        reader.Returned(Shared, 1024, 2);
        Assert.Equal(2, Assert.Single(Assert.Single(reader.Close(lost: 0)).Lengths).SuspectedReturns);
        Assert.Equal(0, Assert.Single(Assert.Single(reader.Close(lost: 1)).Lengths).SuspectedReturns);
    }

    [Fact]
    public void A_return_that_is_written_late_is_not_suspected()
    {
        var reader = new TrafficReader();
        reader.Rented(Shared, 1024, 1); // by a thread that was faster than the one that returned it before the window
        reader.Returned(Shared, 1024, 1);
        reader.Returned(Shared, 1024, 1);
        Assert.Equal(0, Assert.Single(Assert.Single(reader.Close(lost: 0)).Lengths).SuspectedReturns);
    }

    [Theory]
    [InlineData(1, 0)]
    [InlineData(1000, 0.0074)]
    [InlineData(10_000, 0.525)]
    public void The_probability_of_a_collision_grows_with_the_number_of_arrays(int ids, double probability) =>
        Assert.Equal(probability, new LengthTraffic { Ids = ids }.CollisionProbability, 0.001);

    [Fact]
    public void A_suspicion_is_no_proof_and_names_the_probability()
    {
        var traffic = new PoolTraffic
        {
            Lengths =
            [
                new LengthTraffic { Length = 4096, Rented = 5000, Returned = 5002, SuspectedReturns = 2, Ids = 1000, Served = [1, 2] },
            ],
        };
        PoolAdvice advice = ArrayPoolJudge.Judge(traffic, 5, 1, new PoolLimits());
        Assert.Equal((PoolVerdict.Suspect, "double return"), (advice.Verdict, advice.Findings[0].Subject));
        Assert.Contains("with probability 0.742 %", advice.Findings[0].Reason, StringComparison.Ordinal);
        Assert.Equal(PoolVerdict.Keep, advice.Findings[1].Verdict);
    }

    [Fact]
    public void Room_is_advised_where_it_would_serve_and_only_there()
    {
        var length = new LengthTraffic
        {
            Length = 4096, Rented = 10_000, Returned = 10_000, Allocated = 5000, Served = [100, 8800, 9000, 9050],
        };
        PoolFinding finding = ArrayPoolJudge.Judge(new PoolTraffic { Lengths = [length] }, 5, 1, new PoolLimits()).Findings[0];
        Assert.Equal(PoolVerdict.Change, finding.Verdict);
        Assert.Contains(
            "One stack of 2 arrays of each length, for all threads, would have served 88%", finding.Reason, StringComparison.Ordinal);
        length = length with { Served = [100, 200, 5000] };
        Assert.Equal(
            PoolVerdict.NotEnoughEvidence, ArrayPoolJudge.Judge(new PoolTraffic { Lengths = [length] }, 5, 1, new PoolLimits()).Verdict);
    }

    [Fact]
    public void Lengths_that_the_pool_does_not_keep_are_named()
    {
        var reader = new TrafficReader();
        for (int turn = 0; turn < 200; turn++)
        {
            reader.Rented(Shared, 100_000, turn);
            reader.Allocated(Shared, 100_000, turn, isKept: false);
            reader.Returned(Shared, 100_000, turn);
            reader.Dropped(Shared, 100_000);
        }

        PoolTraffic traffic = Assert.Single(reader.Close(lost: 0));
        PoolFinding finding = ArrayPoolJudge.Judge(traffic, 5, 1, new PoolLimits { Rentals = 100 }).Findings[0];

        Assert.Equal((PoolVerdict.Change, "oversize"), (finding.Verdict, finding.Subject));
        Assert.Contains("keeps nothing of these lengths (elements): 100000 40/s.", finding.Reason, StringComparison.Ordinal);
        Assert.Contains("maxArrayLength: 100000", finding.After, StringComparison.Ordinal);
    }

    [Fact]
    public void A_few_lengths_that_the_pool_does_not_keep_do_not_hide_a_lack_of_room()
    {
        var kept = new LengthTraffic
        {
            Length = 4096, Rented = 10_000, Returned = 10_000, Allocated = 5000, Dropped = 4990, Served = [100, 9000],
        };
        var unkept = new LengthTraffic
        {
            Length = 100_000, Rented = 100, Returned = 100, Allocated = 100, IsKept = false, Served = [0, 0],
        };

        PoolFinding finding = ArrayPoolJudge.Judge(new PoolTraffic { Lengths = [kept, unkept] }, 5, 1, new PoolLimits()).Findings[0];

        Assert.Equal((PoolVerdict.Change, "capacity"), (finding.Verdict, finding.Subject));
        Assert.Contains("and 4990 of the returned arrays found no room", finding.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Arrays_that_are_not_returned_are_suspected_to_leak()
    {
        var length = new LengthTraffic { Length = 4096, Rented = 10_000, Returned = 8000, Allocated = 100, Served = [1] };
        PoolFinding finding = ArrayPoolJudge.Judge(new PoolTraffic { Lengths = [length] }, 5, 1, new PoolLimits()).Findings[0];
        Assert.Equal((PoolVerdict.Suspect, "leak"), (finding.Verdict, finding.Subject));
    }
}
