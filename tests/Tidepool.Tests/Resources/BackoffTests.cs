using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

/// <summary>When creations are attempted after one has failed: a function of moments and draws, so tests give it both.</summary>
public sealed class BackoffTests
{
    private static readonly ResourceSettings Defaults = Settings(50, 10_000);

    public static TheoryData<int> Seeds => [.. Enumerable.Range(0, 40)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void After_an_outage_of_any_length_the_next_attempt_is_near_and_attempts_are_few(int seed)
    {
        var random = new Random(seed);
        long length = (long)(1000 * Math.Pow(60, random.NextDouble()));
        var lateness = new List<long>();
        for (int run = 0; run < 50; run++)
        {
            List<long> attempts = Attempts(Defaults, length, random.NextDouble, isWaitedFor: true);
            lateness.Add(attempts[^1] - length);
            Assert.InRange(attempts.Count, 1, MostAttempts(length));
            for (int i = 0; i + 1 < attempts.Count; i++)
            {
                Assert.InRange(attempts[i + 1] - attempts[i], 25, Math.Max(50, Math.Min(1000, attempts[i] / 10)));
            }
        }

        lateness.Sort();
        Assert.InRange(lateness[^1], 0, Math.Max(50, Math.Min(1000, length / 10)));
        Assert.InRange(lateness[lateness.Count / 2], 0, Math.Max(200, length * 15 / 100));
    }

    [Fact]
    public void A_draw_shortens_a_pause_by_up_to_a_half_and_never_lengthens_it()
    {
        foreach (long at in (long[])[0, 100, 700, 5000, 9999, 20_000, 3_600_000])
        {
            foreach (bool isWaitedFor in (bool[])[true, false])
            {
                long whole = Pause(Defaults, at, 0, isWaitedFor);
                long last = whole;
                for (double draw = 0; draw <= 1; draw += 0.05)
                {
                    long pause = Pause(Defaults, at, draw, isWaitedFor);
                    Assert.InRange(pause, whole / 2, last);
                    last = pause;
                }

                Assert.Equal(whole - (whole / 2), Pause(Defaults, at, 1, isWaitedFor));
            }
        }
    }

    [Theory]
    [InlineData(0, 50, 50)]
    [InlineData(400, 50, 400)]
    [InlineData(2000, 200, 2000)]
    [InlineData(9000, 900, 9000)]
    [InlineData(60_000, 1000, 10_000)]
    public void A_pause_is_a_tenth_of_the_outage_while_a_caller_waits_and_all_of_it_otherwise(
        long failingFor, long waitedFor, long otherwise)
    {
        Assert.Equal(waitedFor, Pause(Defaults, failingFor, 0, isWaitedFor: true));
        Assert.Equal(otherwise, Pause(Defaults, failingFor, 0, isWaitedFor: false));
        Assert.Equal(otherwise, Pause(Defaults, failingFor, 0, isWaitedFor: true, isPermanent: true)); // the caller was told
    }

    [Theory]
    [InlineData(5000, 20_000, 60_000, 5000, 20_000)]
    [InlineData(5000, 20_000, 7000, 5000, 7000)]
    [InlineData(1, 200, 60_000, 200, 200)]
    [InlineData(1, 200, 0, 1, 1)]
    public void The_options_bound_both_pauses(long min, long max, long failingFor, long waitedFor, long otherwise)
    {
        ResourceSettings settings = Settings(min, max);
        Assert.Equal(waitedFor, Pause(settings, failingFor, 0, isWaitedFor: true));
        Assert.Equal(otherwise, Pause(settings, failingFor, 0, isWaitedFor: false));
    }

    [Fact]
    public void Failures_of_creations_that_ran_side_by_side_count_once()
    {
        var backoff = new Backoff();
        backoff.Fail(Defaults, 0, false, 1000, 0);
        backoff.Fail(Defaults, 0, false, 1000, 0);
        backoff.Fail(Defaults, 0, false, 9000, 0); // began with them, and took longer
        Assert.Equal((1, 1050, 8000), (backoff.Failures, backoff.Until(true), backoff.FailingFor(9000)));
        backoff.Fail(Defaults, 1, false, 9000, 0);
        Assert.Equal((2, 9800), (backoff.Failures, backoff.Until(true)));
        backoff.End();
        Assert.Equal((0, long.MinValue, 0), (backoff.Failures, backoff.Until(true), backoff.FailingFor(9000)));
        backoff.Fail(Defaults, 2, false, 9100, 0); // of the time before the success
        Assert.False(backoff.IsProbing);
    }

    [Fact]
    public void All_of_the_first_moment_are_told_and_later_attempts_tell_one_caller_after_pauses_that_double()
    {
        var backoff = new Backoff();
        for (int i = 0; i < 4; i++)
        {
            backoff.Fail(Defaults, 0, false, 0, 0);
            Assert.True(backoff.TryReport(Defaults, 0, 0));
        }

        var told = new List<long>();
        while (backoff.Until(true) is var now && now < 60_000)
        {
            int attempt = backoff.Failures;
            backoff.Fail(Defaults, attempt, false, now, 0);
            if (backoff.TryReport(Defaults, attempt, now))
            {
                told.Add(now);
            }
        }

        Assert.InRange(told[0], 800, 900);
        Assert.InRange(told[1] - told[0], 1600, 1800);
        Assert.InRange(told[2] - told[1], 3200, 3900);
        Assert.All(told.Skip(4).Zip(told.Skip(3)), static pair => Assert.InRange(pair.First - pair.Second, 10_000, 11_000));
    }

    [Fact]
    public void After_a_success_the_next_outage_is_told_as_the_first_one_was()
    {
        var backoff = new Backoff();
        long first = QuietAfterTwoTold(ref backoff, 0);
        backoff.End();
        Assert.Equal(first, QuietAfterTwoTold(ref backoff, 100_000));
    }

    [Fact]
    public void A_lasting_failure_is_told_each_time()
    {
        var backoff = new Backoff();
        for (int attempt = 0; attempt < 5; attempt++)
        {
            backoff.Fail(Defaults, attempt, true, attempt, 0);
            Assert.True(backoff.TryReport(Defaults, attempt, attempt));
        }

        backoff.Fail(Defaults, 5, false, 5, 0);
        Assert.False(backoff.IsPermanent);
        Assert.False(backoff.TryReport(Defaults, 5, 5));
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void Of_failures_side_by_side_one_that_lasts_is_enough(bool isFirstPermanent, bool isSecondPermanent)
    {
        var backoff = new Backoff();
        backoff.Fail(Defaults, 0, isFirstPermanent, 0, 0);
        backoff.Fail(Defaults, 0, isSecondPermanent, 0, 0);
        Assert.True(backoff.IsPermanent);
        backoff.End();
        backoff.Fail(Defaults, 1, true, 0, 0); // of the time before the success
        Assert.False(backoff.IsPermanent);
    }

    /// <summary>For how long no caller hears of attempts after two callers have heard of the first failures.</summary>
    private static long QuietAfterTwoTold(ref Backoff backoff, long now)
    {
        for (int i = 0; i < 2; i++)
        {
            backoff.Fail(Defaults, 0, false, now, 0);
            Assert.True(backoff.TryReport(Defaults, 0, now));
        }

        long start = now;
        for (backoff.Fail(Defaults, 1, false, now, 0); !backoff.TryReport(Defaults, 1, now); now++)
        {
        }

        return now - start;
    }

    /// <summary>When attempts are made on a server that comes back after some time; the last one succeeds.</summary>
    private static List<long> Attempts(ResourceSettings settings, long length, Func<double> draw, bool isWaitedFor)
    {
        var backoff = new Backoff();
        List<long> attempts = [];
        for (long now = 0; ; now = backoff.Until(isWaitedFor))
        {
            attempts.Add(now);
            if (now >= length)
            {
                return attempts;
            }

            backoff.Fail(settings, backoff.Failures, false, now, draw());
        }
    }

    /// <summary>With the shortest pauses: 25 ms for half a second, then a twentieth of the outage, then half a second.</summary>
    private static int MostAttempts(long length) =>
        2 + 20 + (int)Math.Ceiling(Math.Log(Math.Min(length, 10_000) / 500.0) / Math.Log(1.05)) + (int)(Math.Max(0, length - 10_000) / 500);

    private static long Pause(ResourceSettings settings, long failingFor, double draw, bool isWaitedFor, bool isPermanent = false)
    {
        var backoff = new Backoff();
        if (failingFor > 0)
        {
            backoff.Fail(settings, 0, false, 0, 0);
        }

        backoff.Fail(settings, backoff.Failures, isPermanent, failingFor, draw);
        return backoff.Until(isWaitedFor) - failingFor;
    }

    private static ResourceSettings Settings(long min, long max) => new(new ResourcePoolOptions
    {
        MaxSize = 1,
        BackoffMin = TimeSpan.FromMilliseconds(min),
        BackoffMax = TimeSpan.FromMilliseconds(max),
    });
}
