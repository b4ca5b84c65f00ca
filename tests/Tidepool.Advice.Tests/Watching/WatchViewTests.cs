namespace Tidepool.Advice.Tests.Watching;

public sealed class WatchViewTests
{
    private static readonly PoolRow[] Pools =
    [
        new() { Name = "alpha", RentedPerSecond = 1, HitRate = 0.5, Idle = 9, Misuses = 0, OldestMilliseconds = 5 },
        new() { Name = "beta", RentedPerSecond = 2, HitRate = 0.9, Idle = 1, Misuses = 3, Waiting = 4, MaxSize = 10, Leased = 10 },
        new() { Name = "gamma", Kind = "KeyedResources", OldestMilliseconds = 123_456, OldestSite = "at A.B() in C.cs:line 1" },
    ];

    private static readonly MeteredRow[] Metered =
    [
        new() { Name = "threads", PerSecond = 20, Used = 8, Waiting = 2 },
        new() { Name = "npgsql", Idle = 5, Used = 3, Waiting = 0 },
        new() { Name = "http", PerSecond = 90, Idle = 2, Used = 1 },
        new() { Name = "kestrel", PerSecond = 7 },
    ];

    [Theory]
    [InlineData("Rented", "beta alpha gamma")]
    [InlineData("HitRate", "alpha beta gamma")]
    [InlineData("Idle", "alpha beta gamma")]
    [InlineData("Leased", "beta alpha gamma")]
    [InlineData("Misuse", "beta alpha gamma")]
    [InlineData("Waiting", "beta alpha gamma")]
    [InlineData("Oldest", "gamma alpha beta")]
    [InlineData("Name", "alpha beta gamma")]
    public void Pools_are_sorted(string order, string names) => Assert.Equal(
        names, string.Join(' ', new WatchView { Order = Enum.Parse<PoolOrder>(order) }.Apply(Pools).Select(static pool => pool.Name)));

    [Theory]
    [InlineData("Rented", "http threads kestrel npgsql")]
    [InlineData("HitRate", "http kestrel npgsql threads")]
    [InlineData("Idle", "npgsql http kestrel threads")]
    [InlineData("Leased", "threads npgsql http kestrel")]
    [InlineData("Misuse", "http kestrel npgsql threads")]
    [InlineData("Waiting", "threads npgsql http kestrel")]
    [InlineData("Oldest", "http kestrel npgsql threads")]
    [InlineData("Name", "http kestrel npgsql threads")]
    public void Other_pools_are_sorted_by_what_their_meters_count(string order, string names) => Assert.Equal(
        names,
        string.Join(' ', new WatchView { Order = Enum.Parse<PoolOrder>(order) }.Apply(Metered).Select(static row => row.Name)));

    [Fact]
    public void Keys_sort_and_filter_and_letters_of_a_filter_are_no_commands()
    {
        WatchView view = Press(new WatchView(), 's');
        Assert.Equal(PoolOrder.HitRate, view.Order);
        view = Press(Press(Press(view, 'f'), 's'), 'x');
        Assert.Equal(("sx", true, PoolOrder.HitRate), (view.Filter, view.IsTyping, view.Order));
        view = Press(Press(view, '\b', ConsoleKey.Backspace), '\r', ConsoleKey.Enter);
        Assert.Equal(("s", false), (view.Filter, view.IsTyping));
        view = Press(Press(view, '/'), '\u001b', ConsoleKey.Escape);
        Assert.Equal(("", false), (view.Filter, view.IsTyping));
        Assert.Equal(["beta"], new WatchView { Filter = "ET" }.Apply(Pools).Select(static pool => pool.Name));
        Assert.Equal(["kestrel"], new WatchView { Filter = "EST" }.Apply(Metered).Select(static row => row.Name));
    }

    [Theory]
    [InlineData(80)]
    [InlineData(120)]
    public void The_screen_fits_the_terminal_and_cuts_no_number(int width)
    {
        var frame = new WatchFrame
        {
            Seconds = 3599,
            AllocatedPerSecond = 1.23e9,
            Pools = Pools,
            Metered = [new MeteredRow { Name = "HTTP https://api.example.org:443", Idle = 12, Used = 3, PerSecond = 12_345 }],
            ArrayPool = new ArrayPoolWindow { Seconds = 5, Lengths = [new LengthCount(8192, 12_000)] },
        };
        var target = new TargetProcess { Id = 123_456, Name = "orders-api", Runtime = "10.0.12" };
        string shown = PrintedText.Of(
            width, console => console.Write(WatchTables.Draw(target, frame, new WatchView(), width, isLive: true)));
        string[] lines = shown.Split('\n');
        Assert.All(lines, line => Assert.True(line.TrimEnd().Length <= width, line));
        Assert.DoesNotContain("…", shown, StringComparison.Ordinal);
        foreach (string text in (string[])["10/10", "2.06 min", "12.3k", "1.23 GB/s", "at A.B() in C.cs:line 1", "8192 × 12k/s", "50%"])
        {
            Assert.Contains(text, shown, StringComparison.Ordinal);
        }
    }

    private static WatchView Press(WatchView view, char letter, ConsoleKey key = ConsoleKey.None) =>
        view.Press(new ConsoleKeyInfo(letter, key, shift: false, alt: false, control: false));
}
