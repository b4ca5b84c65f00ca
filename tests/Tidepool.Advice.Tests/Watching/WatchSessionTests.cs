using System.Diagnostics;
using Tidepool.Advice.Tests.Programs;

namespace Tidepool.Advice.Tests.Watching;

/// <summary>Attaches to a real process.</summary>
[Trait("Category", "Environment")]
public sealed class WatchSessionTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    [Fact]
    public async Task A_watched_process_shows_its_pools_their_waiting_callers_and_where_the_oldest_lease_was_rented()
    {
        using var child = ChildProcess.Start(WatchedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        Assert.True(target.UsesTidepool);
        Assert.Contains(TargetCatalog.List(), process => process.Id == child.Id);
        using WatchSession session = WatchSession.Start(target, CancellationToken.None);
        WatchFrame frame = await TakeUntil(
            session,
            static f => f.AllocatedPerSecond > 0 && f.Pools.Any(static p => p is { Name: WatchedProgram.BufferPool, RentedPerSecond: > 0 })
                && f.Pools.Any(static p => p is { Name: WatchedProgram.ResourcePool, Waiting: 1 })
                && f.Metered.Any(static m => m.Name == "thread pool"));
        Assert.Equal(1, frame.Pools.Single(static p => p.Name == WatchedProgram.BufferPool).HitRate);
        PoolRow resources = frame.Pools.Single(static p => p.Name == WatchedProgram.ResourcePool);
        Assert.Equal((1, 1), (resources.Leased, resources.MaxSize));
        Assert.True(resources.OldestMilliseconds >= 0);
        Assert.Contains(WatchedProgram.RentingMethod, resources.OldestSite!, StringComparison.Ordinal);
        Assert.True(frame.WorkingSet > 0);

        child.End();
        await session.Ended.WaitAsync(Patience);
    }

    [Fact]
    public async Task Pools_that_a_server_and_its_client_use_without_asking_have_their_rows()
    {
        using var child = ChildProcess.Start(ServingProgram.Name);
        string port = child.Ask();
        using WatchSession session = WatchSession.Start(TargetCatalog.Find($"{child.Id}"), CancellationToken.None);
        await TakeUntil(
            session,
            f => Has(f, $"HTTP http://127.0.0.1:{port}", static row => (row.Idle ?? 0) + (row.Used ?? 0) >= 1)
                && Has(f, $"Kestrel 127.0.0.1:{port}", static row => row.Used >= 1)
                && Has(f, "memory of kestrel", static row => row is { Unit: "By", Idle: > 0 }));
        child.End();

        static bool Has(WatchFrame frame, string name, Func<MeteredRow, bool> isGood) =>
            frame.Metered.Any(row => row.Name == name && isGood(row));
    }

    [Fact]
    public async Task A_window_of_array_pool_events_counts_and_says_what_it_cost()
    {
        using var child = ChildProcess.Start(WatchedProgram.Name);
        using WatchSession session = WatchSession.Start(TargetCatalog.Find($"{child.Id}"), CancellationToken.None);
        session.OpenArrayPool();
        WatchFrame frame = await TakeUntil(session, static f => f.ArrayPool is not null);
        Assert.True(frame.ArrayPool!.RentedPerSecond > 0);
        Assert.Contains(frame.ArrayPool.Lengths, static length => length.Length == 8192);
        Assert.DoesNotContain(frame.ArrayPool.Lengths, static length => length.Length == 0); // the session's own events are none
        Assert.True(frame.ArrayPool.ProcessorsWithin > 0);
        Assert.True(frame.ArrayPool.ProcessorsBefore > 0);
        Assert.False(session.IsArrayPoolOpen);
    }

    [Fact]
    public async Task Two_watches_of_one_process_do_not_disturb_each_other()
    {
        using var child = ChildProcess.Start(WatchedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        using WatchSession first = WatchSession.Start(target, CancellationToken.None);
        using (WatchSession second = WatchSession.Start(target, CancellationToken.None))
        {
            await TakeUntil(second, static f => f.AllocatedPerSecond > 0 && f.Pools.Count > 0);
            await TakeUntil(first, static f => f.AllocatedPerSecond > 0 && f.Pools.Count > 0);
        }

        double rented = RentedOf(await TakeUntil(first, static f => f.Pools.Count > 0));
        await TakeUntil(first, f => Math.Abs(RentedOf(f) - rented) > 1e-9); // the first still gets answers after the second is gone
    }

    private static double RentedOf(WatchFrame frame) =>
        frame.Pools.FirstOrDefault(static p => p.Name == WatchedProgram.BufferPool)?.RentedPerSecond ?? 0;

    private static async Task<WatchFrame> TakeUntil(WatchSession session, Func<WatchFrame, bool> isGood)
    {
        var time = Stopwatch.StartNew();
        WatchFrame frame = session.Take();
        while (!isGood(frame))
        {
            Assert.True(time.Elapsed < Patience, $"not in time; the last frame is {WatchJson.Line(frame)}");
            Assert.False(session.Ended.IsCompleted, "the session has ended");
            await Task.Delay(100);
            frame = session.Take();
        }

        return frame;
    }
}
