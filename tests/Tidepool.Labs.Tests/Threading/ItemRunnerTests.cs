namespace Tidepool.Labs.Tests.Threading;

/// <summary>The ways to run items of lab <c>threads</c> do what their rows say.</summary>
[Collection("counted threads")]
[Trait("Category", "Environment")]
public sealed class ItemRunnerTests
{
    public static TheoryData<string> All => new(ItemRunner.All);

    public static TheoryData<string> Awaiting => new(ItemRunner.Awaiting);

    public static TheoryData<string> Blocking => new(ItemRunner.All.Except(ItemRunner.Awaiting));

    [Theory]
    [MemberData(nameof(All))]
    public void Every_item_was_done_once_when_the_run_returns(string way)
    {
        ItemRunner runner = ItemRunner.Open(way);
        foreach (int items in (int[])[1, 7, 500])
        {
            int done = 0;
            runner.Run(items, () => Interlocked.Increment(ref done));
            Assert.Equal(items, Volatile.Read(ref done));
        }
    }

    [Theory]
    [MemberData(nameof(Awaiting))]
    public void Every_item_that_awaits_was_done_once_when_the_run_returns(string way)
    {
        int done = 0;
        ItemRunner.Open(way).Run(100, async () =>
        {
            await Task.Delay(1);
            Interlocked.Increment(ref done);
        });

        Assert.Equal(100, Volatile.Read(ref done));
    }

    [Theory]
    [MemberData(nameof(Blocking))]
    public void A_way_that_only_blocks_refuses_items_that_await(string way) =>
        Assert.Throws<NotSupportedException>(() => ItemRunner.Open(way).Run(1, ItemWork.DelayAsync));

    [Fact]
    public void A_thread_each_is_as_many_threads_as_items() => Assert.Equal(60, DistinctOf(ItemRunner.ThreadEach, 60));

    [Fact]
    public void Dedicated_threads_are_at_most_as_many_as_cores() =>
        Assert.InRange(DistinctOf(ItemRunner.Dedicated, 60), 1, Environment.ProcessorCount);

    [Fact]
    public void What_is_no_way_is_refused() => Assert.Throws<ArgumentException>("name", () => ItemRunner.Open("by hand"));

    private static int DistinctOf(string way, int items)
    {
        using var watch = new ThreadWatch();
        ItemRunner.Open(way).Run(items, watch.Note);
        return watch.Distinct;
    }
}
