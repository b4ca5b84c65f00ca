namespace Tidepool.Advice.Tests.Lifetimes;

public sealed class LifetimeTrackerTests
{
    private const ulong Young = 0x1000;
    private const ulong Middle = 0x2000;
    private const ulong Oldest = 0x3000;
    private const ulong LargeHeap = 0x4000;
    private const ulong Bytes = 0x1000;

    private readonly LifetimeTracker _tracker = new();

    [Fact]
    public void An_object_that_no_collection_has_looked_at_is_not_judged()
    {
        var one = _tracker.Add(Young, isLarge: false);
        Assert.Equal(Fate.Unseen, one.Lifetime.Fate);
        Collect(1, 0);
        Assert.Equal(new Lifetime(Fate.DiedYoung, 1), one.Lifetime);
    }

    [Fact]
    public void An_object_is_followed_to_where_collections_move_it()
    {
        var one = _tracker.Add(Young + 0x30, isLarge: false);
        Collect(1, 0, (Young, Middle, 0x40));
        Assert.Equal((Fate.Undecided, Middle + 0x30, 1), (one.Lifetime.Fate, one.Address, one.Generation));
        Collect(2, 0); // generation 0 only
        Assert.Equal(Fate.Undecided, one.Lifetime.Fate);
        Collect(3, 1, (Middle + 0x30, Oldest, 0x10));
        Assert.Equal((new Lifetime(Fate.Kept, 1), Oldest), (one.Lifetime, one.Address));
        Collect(4, 2);
        Assert.Equal((true, Fate.Kept), (one.IsDead, one.Lifetime.Fate));
    }

    [Fact]
    public void What_outlives_one_collection_may_die_in_the_next()
    {
        var one = _tracker.Add(Young, isLarge: false);
        Collect(1, 0, (Young, Middle, 0x10));
        Collect(2, 1);
        Assert.Equal(Fate.DiedLater, one.Lifetime.Fate);
    }

    [Fact]
    public void The_end_of_a_range_is_not_in_it()
    {
        var one = _tracker.Add(Young + 0x10, isLarge: false);
        Collect(1, 0, (Young, Middle, 0x10));
        Assert.Equal(Fate.DiedYoung, one.Lifetime.Fate);
    }

    [Fact]
    public void A_collection_may_leave_what_survives_in_its_generation()
    {
        var one = _tracker.Add(Young, isLarge: false);
        Collect(1, 0, (Young, Young + 0x100, 0x10));
        Assert.Equal((0, Fate.Undecided), (one.Generation, one.Lifetime.Fate));
    }

    [Fact]
    public void Large_objects_are_looked_at_by_collections_of_generation_2()
    {
        var one = _tracker.Add(LargeHeap, isLarge: true);
        Collect(1, 1);
        Assert.Equal(Fate.Unseen, one.Lifetime.Fate);
        Collect(2, 2, (LargeHeap, LargeHeap, 0x100));
        Assert.Equal(Fate.Kept, one.Lifetime.Fate);
    }

    [Fact]
    public void A_background_collection_goes_on_while_others_run()
    {
        var dead = _tracker.Add(LargeHeap, isLarge: true);
        var alive = _tracker.Add(LargeHeap + 0x100, isLarge: true);
        var young = _tracker.Add(Young, isLarge: false);
        var youngDead = _tracker.Add(Young + 0x100, isLarge: false);
        Start(1, 2, isBackground: true);
        var during = _tracker.Add(LargeHeap + 0x200, isLarge: true);
        Collect(2, 0, (Young, Young + 0x200, 0x10), (Young + 0x100, Young + 0x300, 0x10));
        _tracker.Survive([(LargeHeap + 0x100, LargeHeap + 0x100, 0x10), (Young + 0x200, Young + 0x200, 0x10)]);
        _tracker.End(1);
        Assert.Equal(
            [Fate.DiedYoung, Fate.Kept, Fate.Unseen, Fate.Undecided, Fate.DiedLater],
            ((LifetimeTracker.Followed[])[dead, alive, during, young, youngDead]).Select(static one => one.Lifetime.Fate));
        Assert.Equal((0, 2), (young.Generation, _tracker.Collections));
    }

    [Fact]
    public void A_background_collection_that_writes_nothing_of_young_objects_decides_nothing_about_them()
    {
        var young = _tracker.Add(Young, isLarge: false);
        Start(1, 2, isBackground: true);
        _tracker.Survive([(Oldest, Oldest, 0x10)]);
        _tracker.End(1);
        Assert.Equal(Fate.Unseen, young.Lifetime.Fate);
    }

    [Fact]
    public void A_collection_whose_start_was_not_seen_decides_nothing()
    {
        var one = _tracker.Add(Young, isLarge: false);
        _tracker.Survive([(Oldest, Oldest, 0x10)]);
        _tracker.End(7);
        Assert.Equal((Fate.Unseen, 0), (one.Lifetime.Fate, _tracker.Collections));
    }

    private void Collect(long number, int depth, params (ulong From, ulong To, ulong Length)[] alive)
    {
        Start(number, depth, isBackground: false);
        _tracker.Survive(alive);
        _tracker.End(number);
    }

    private void Start(long number, int depth, bool isBackground)
    {
        _tracker.Start(number, depth, isBackground);
        _tracker.Range(2, Young, Bytes); // what is said at the start is taken back at the end
        (int, ulong)[] ranges = [(0, Young), (1, Middle), (2, Oldest), (3, LargeHeap)];
        Array.ForEach(ranges, range => _tracker.Range(range.Item1, range.Item2, Bytes));
    }
}
