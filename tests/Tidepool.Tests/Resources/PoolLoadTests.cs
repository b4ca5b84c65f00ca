using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

/// <summary>The advice about a pool's size: its arithmetic, and what simulations of pools say to it.</summary>
public sealed class PoolLoadTests
{
    [Fact]
    public void The_load_between_two_snapshots_counts_those_who_got_nothing()
    {
        ResourcePoolStatistics earlier = new() { Rented = 100, Returned = 90, HeldTime = TimeSpan.FromSeconds(9), Waiting = 1 };
        ResourcePoolStatistics later = new()
        {
            Rented = 700,
            Returned = 690,
            HeldTime = TimeSpan.FromSeconds(39),
            TimedOut = 20,
            Rejected = 5,
            Cancelled = 6,
            Failed = 4,
            Waiting = 6,
        };
        PoolLoad load = PoolLoad.Between(earlier, later, TimeSpan.FromSeconds(64));
        Assert.Equal(10, load.RentalsPerSecond);
        Assert.Equal(600 / 64.0, load.ServedPerSecond);
        Assert.Equal(TimeSpan.FromMilliseconds(50), load.HoldTime);
        Assert.Equal(0.5, load.MeanLeased, 9);
    }

    [Theory]
    [InlineData(10, 50, 4)] // Erlang's C of 4 places at 0.5: 0.0018; of 3: 0.0152
    [InlineData(0, 50, 1)]
    [InlineData(1000, 8, 16)] // of 16 places at 8: 0.0085
    public void The_size_is_the_smallest_in_which_few_wait(double rentals, double milliseconds, int size)
    {
        var load = new PoolLoad { RentalsPerSecond = rentals, HoldTime = TimeSpan.FromMilliseconds(milliseconds) };
        PoolSizeAdvice advice = load.Advise();
        Assert.Equal((size, size, null), (advice.Size, advice.ForArrivals, advice.UsefulSize));
        Assert.InRange(advice.WaitingShare, 0, 0.01);
        Assert.InRange(load.Advise(0.5).Size, 1, size);
    }

    [Theory]
    [InlineData(40, 5)]
    [InlineData(400, 20)]
    [InlineData(2500, 10)]
    public void In_a_simulation_of_the_advised_size_as_few_wait_as_it_says_and_in_a_smaller_one_too_many(
        double rentals, double milliseconds)
    {
        var load = new PoolLoad { RentalsPerSecond = rentals, HoldTime = TimeSpan.FromMilliseconds(milliseconds) };
        PoolSizeAdvice advice = load.Advise();
        double share = ShareThatWaits(load, advice.Size);
        double smaller = ShareThatWaits(load, advice.Size - 1);
        Assert.InRange(share, advice.WaitingShare * 0.8, advice.WaitingShare * 1.2);
        Assert.True(smaller > 0.01, $"{smaller:P2} wait in a pool of {advice.Size - 1}");
    }

    [Theory]
    [InlineData(2)]
    [InlineData(8)]
    public void Where_the_server_is_busy_the_useful_size_gives_its_throughput_and_more_only_makes_it_slower(int processors)
    {
        // Each of 64 callers asks again as soon as it is answered; an answer takes 5 ms of a processor.
        PoolLoad quiet = ServerWith(processors, sessions: 1);
        PoolLoad busy = ServerWith(processors, sessions: 64);
        PoolSizeAdvice advice = busy.Advise(unloaded: quiet);
        int useful = Assert.NotNull(advice.UsefulSize);
        Assert.Equal(useful, advice.Size);
        Assert.True(advice.ForArrivals > useful);
        PoolLoad advised = ServerWith(processors, useful);
        PoolLoad beyond = ServerWith(processors, useful * 4);
        Assert.InRange(advised.RentalsPerSecond, busy.RentalsPerSecond * 0.95, busy.RentalsPerSecond * 1.05);
        Assert.True(beyond.HoldTime > advised.HoldTime * 3, $"{beyond.HoldTime} and {advised.HoldTime}");
        Assert.Contains(useful.ToString(System.Globalization.CultureInfo.InvariantCulture), advice.ToString(), StringComparison.Ordinal);
    }

    /// <summary>Callers ask for more than the server can do, and give up: what they ask for does not measure what it works on.</summary>
    [Theory]
    [InlineData(2, 1000)]
    [InlineData(2, 20_000)]
    [InlineData(8, 20_000)]
    public void Where_most_rentals_get_nothing_the_useful_size_follows_from_those_that_are_served(int processors, double asked)
    {
        PoolLoad quiet = ServerWith(processors, sessions: 1);
        PoolLoad served = ServerWith(processors, sessions: 64);
        PoolLoad busy = served with { RentalsPerSecond = asked, ServedPerSecond = served.RentalsPerSecond };
        Assert.Equal(served.Advise(unloaded: quiet).UsefulSize, busy.Advise(unloaded: quiet).UsefulSize);
        Assert.InRange(Assert.NotNull(busy.Advise(unloaded: quiet).UsefulSize), processors, processors + 1);
    }

    [Fact]
    public void Where_leases_are_held_no_longer_than_at_a_quiet_hour_nothing_says_that_more_would_hurt()
    {
        var quiet = new PoolLoad { RentalsPerSecond = 10, HoldTime = TimeSpan.FromMilliseconds(10) };
        PoolLoad busy = quiet with { RentalsPerSecond = 1000, HoldTime = TimeSpan.FromMilliseconds(12) };
        Assert.Null(busy.Advise(unloaded: quiet).UsefulSize);
        Assert.NotNull((busy with { HoldTime = TimeSpan.FromMilliseconds(13) }).Advise(unloaded: quiet).UsefulSize);
    }

    [Fact]
    public void Numbers_out_of_their_range_are_refused_by_name()
    {
        var load = new PoolLoad { RentalsPerSecond = 1, HoldTime = TimeSpan.FromSeconds(1) };
        foreach (double share in new[] { 0, 1, -1, double.NaN })
        {
            Assert.Equal("waitingShare", Assert.Throws<ArgumentOutOfRangeException>(() => load.Advise(share)).ParamName);
        }

        foreach (PoolLoad wrong in new[]
        {
            load with { RentalsPerSecond = -1 }, load with { RentalsPerSecond = double.NaN },
            load with { RentalsPerSecond = double.PositiveInfinity }, load with { RentalsPerSecond = 100_001 },
            load with { HoldTime = TimeSpan.FromSeconds(-1) }, load with { ServedPerSecond = -1 },
            load with { ServedPerSecond = double.NaN }, load with { ServedPerSecond = double.PositiveInfinity },
        })
        {
            string said = Assert.Throws<InvalidOperationException>(() => wrong.Advise()).Message;
            Assert.Contains("; allowed is ", said, StringComparison.Ordinal);
            var refusal = Assert.Throws<ArgumentOutOfRangeException>(() => load.Advise(unloaded: wrong));
            Assert.Equal("unloaded", refusal.ParamName);
            Assert.Contains(said, refusal.Message, StringComparison.Ordinal);
        }

        Assert.InRange((load with { RentalsPerSecond = 100_000 }).Advise().Size, 100_000, 102_000);
        Assert.Equal(
            "elapsed",
            Assert.Throws<ArgumentOutOfRangeException>(() => PoolLoad.Between(default, default, TimeSpan.Zero)).ParamName);
        Assert.Equal(
            "later", Assert.Throws<ArgumentException>(() => PoolLoad.Between(default, default, TimeSpan.FromSeconds(1))).ParamName);
    }

    /// <summary>Callers that arrive independently of each other, at a pool that serves in their order: the share that waits.</summary>
    private static double ShareThatWaits(PoolLoad load, int size)
    {
        const int arrivals = 400_000;
        var random = new Random(7);
        double[] free = new double[size]; // when each place is free
        double now = 0;
        int waiting = 0;
        for (int i = 0; i < arrivals; i++)
        {
            now += Exponential(random) / load.RentalsPerSecond;
            int first = 0;
            for (int place = 1; place < size; place++)
            {
                first = free[place] < free[first] ? place : first;
            }

            waiting += free[first] > now ? 1 : 0;
            free[first] = Math.Max(now, free[first]) + (Exponential(random) * load.HoldTime.TotalSeconds);
        }

        return (double)waiting / arrivals;
    }

    /// <summary>
    /// A server whose processors are shared by all sessions that ask: 64 callers on so many sessions, each of which asks again at once.
    /// </summary>
    private static PoolLoad ServerWith(int processors, int sessions)
    {
        const int answers = 20_000;
        const double work = 0.005;
        var random = new Random(11);
        double[] left = [.. Enumerable.Range(0, sessions).Select(_ => Exponential(random) * work)];
        double now = 0;
        double held = 0;
        for (int i = 0; i < answers; i++)
        {
            double speed = Math.Min(1, (double)processors / sessions);
            int next = Array.IndexOf(left, left.Min());
            double step = left[next] / speed;
            for (int session = 0; session < sessions; session++)
            {
                left[session] -= step * speed;
            }

            now += step;
            held += step * sessions;
            left[next] = Exponential(random) * work;
        }

        return new PoolLoad { RentalsPerSecond = answers / now, HoldTime = TimeSpan.FromSeconds(held / answers) };
    }

    private static double Exponential(Random random) => -Math.Log(1 - random.NextDouble());
}
