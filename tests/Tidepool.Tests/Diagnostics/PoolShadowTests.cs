namespace Tidepool.Tests.Diagnostics;

/// <summary>What a pool would have served with more room, against pools of every size that are played through one by one.</summary>
public sealed class PoolShadowTests
{
    private static readonly int[] Capacities = [.. Enumerable.Range(0, 13).Select(static step => 1 << step)];

    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 30)]
    [InlineData(3, 700)]
    [InlineData(4, 6000)]
    public void One_pass_counts_what_every_capacity_would_have_served(int seed, int burst)
    {
        var random = new Random(seed);
        var shadow = new ShadowPlaces();
        var kept = new int[Capacities.Length];
        var served = new long[Capacities.Length];
        for (int turn = 0; turn < 200; turn++)
        {
            bool isDrop = random.Next(2) == 0;
            for (int times = random.Next(1, burst + 1); times > 0; times--)
            {
                Step(isDrop, kept, served);
                if (isDrop)
                {
                    shadow.CountDropped();
                }
                else
                {
                    shadow.CountMissed();
                }
            }
        }

        Assert.True(served[^1] > 0, "nothing was served: the load tests nothing");
        Assert.Equal(served, shadow.Served());
    }

    [Fact]
    public void A_miss_that_follows_no_drop_is_served_by_no_capacity()
    {
        var shadow = new ShadowPlaces();
        shadow.CountMissed();
        shadow.CountDropped();
        Assert.All(shadow.Served(), static served => Assert.Equal(0, served));
        shadow.CountMissed();
        shadow.CountMissed();
        Assert.All(shadow.Served(), static served => Assert.Equal(1, served));
    }

    [Fact]
    public void Lengths_that_are_kept_have_places_and_others_are_counted_only()
    {
        var shadow = new PoolShadow();
        shadow.CountDropped(64, 256, 2);
        shadow.CountMissed(64, 256, isKept: true);
        shadow.CountMissed(5000, 20_000, isKept: false);
        ShadowClass[] classes = shadow.Snapshot();
        Assert.Equal([(64, 256L, true, 1L, 2L), (5000, 20_000L, false, 1L, 0L)], classes.Select(
            static one => (one.Length, one.Bytes, one.IsKept, one.Missed, one.Dropped)));
        Assert.Equal((1L, 0), (classes[0].Served[0], classes[1].Served.Length));
    }

    [Fact]
    public void Lengths_that_are_not_kept_are_told_apart_up_to_a_limit()
    {
        var shadow = new PoolShadow();
        for (int length = 1; length <= PoolShadow.MostUnkept + 10; length++)
        {
            shadow.CountMissed(length, length, isKept: false);
        }

        ShadowClass[] classes = shadow.Snapshot();
        Assert.Equal(PoolShadow.MostUnkept + 1, classes.Length);
        Assert.Equal((0, 10L), (classes[0].Length, classes[0].Missed));
    }

    private static void Step(bool isDrop, int[] kept, long[] served)
    {
        for (int i = 0; i < kept.Length; i++)
        {
            if (isDrop)
            {
                kept[i] = Math.Min(kept[i] + 1, Capacities[i]);
            }
            else if (kept[i] > 0)
            {
                kept[i]--;
                served[i]++;
            }
        }
    }
}
