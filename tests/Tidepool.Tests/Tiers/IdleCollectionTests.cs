namespace Tidepool.Tests.Tiers;

public sealed class IdleCollectionTests
{
    private const long Enough = IdleCollection.LeastBytes;
    private const long Epoch = 10_000;

    private readonly IdleCollection _idle = new();
    private TimeSpan _processor;
    private long _now = 1_000_000;

    [Fact]
    public void Off_is_the_default()
    {
        Assert.Equal(IdleCollectionMode.Off, IdleCollection.Parse(null));
        Assert.Equal(IdleCollectionMode.Off, IdleCollection.Parse("something"));
        Assert.Equal(IdleCollectionMode.Off, IdleCollection.Mode); // nothing sets it for the tests
    }

    [Theory]
    [InlineData("off", 0)]
    [InlineData(" Background ", 1)]
    [InlineData("aggressive", 2)]
    public void The_modes_are_understood(string text, int mode) => Assert.Equal((IdleCollectionMode)mode, IdleCollection.Parse(text));

    [Fact]
    public void Thirty_quiet_seconds_after_much_was_given_up_it_collects_once()
    {
        Assert.Equal([false, false, false, true, false, false], Looks([Enough, 0, 0, 0, 0, 0]));
        Assert.False(_idle.IsPending);
    }

    [Fact]
    public void Several_epochs_add_up()
    {
        Assert.Equal([false, false, false, false, true], Looks([Enough / 2, Enough / 4, Enough / 8, Enough / 16, Enough / 16]));
    }

    [Fact]
    public void While_epochs_still_give_up_much_it_waits_for_the_rest()
    {
        Assert.Equal(
            [false, false, false, false, false, true],
            Looks([Enough, Enough, Enough, Enough, IdleCollection.StillGiving, IdleCollection.StillGiving - 1]));
    }

    [Fact]
    public void Too_little_is_not_worth_a_collection()
    {
        Assert.DoesNotContain(true, Looks([Enough - 1, 0, 0, 0, 0, 0, 0]));
        Assert.False(_idle.IsPending);
    }

    [Fact]
    public void What_a_full_collection_has_taken_counts_no_more()
    {
        Assert.Equal([false, false], Looks([Enough - 1, 0]));
        Assert.DoesNotContain(true, Looks([1, 0, 0, 0, 0], fullCollections: 1));
        Assert.Equal([false, true], Looks([Enough, 0], fullCollections: 1));
    }

    [Fact]
    public void A_busy_process_is_left_alone_and_the_thirty_seconds_begin_anew()
    {
        TimeSpan idle = TimeSpan.FromMilliseconds(Epoch * IdleCollection.MostUse) - TimeSpan.FromTicks(1);
        TimeSpan busy = TimeSpan.FromMilliseconds(Epoch * IdleCollection.MostUse);
        Assert.DoesNotContain(true, Looks([Enough, 0, 0, 0, 0, 0], use: busy));
        Assert.Equal([false, false, true], Looks([0, 0, 0], use: idle));
        Assert.False(_idle.IsPending);
    }

    [Fact]
    public void After_a_long_time_without_a_look_the_process_counts_as_busy()
    {
        Assert.Equal([false, false], Looks([0, 0]));
        _now += IdleCollection.Quiet * 10;
        Assert.Equal([false, false, false, true], Looks([Enough, 0, 0, 0]));
    }

    [Fact]
    public void Ten_minutes_lie_between_two_collections_and_what_is_given_up_meanwhile_waits()
    {
        Assert.Equal([false, false, false, true], Looks([Enough, 0, 0, 0]));
        int epochs = (int)(IdleCollection.Interval / Epoch);
        Assert.Equal(
            [.. Enumerable.Repeat(false, epochs - 1), true],
            Looks([Enough, .. Enumerable.Repeat(0L, epochs - 1)], fullCollections: 0));
    }

    private bool[] Looks(long[] given, int fullCollections = 0, TimeSpan use = default) =>
    [
        .. given.Select(bytes =>
        {
            _now += Epoch;
            _processor += use;
            return _idle.IsDue(bytes, fullCollections, _processor, _now);
        }),
    ];
}
