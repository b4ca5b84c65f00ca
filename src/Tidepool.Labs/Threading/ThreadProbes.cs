using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>What is counted about ways to run items of work.</summary>
internal static class ThreadProbes
{
    /// <summary>Metric: the time of all items.</summary>
    public const string Time = "time_ns";

    /// <summary>Metric: different threads that worked on an item, over the items.</summary>
    public const string PerItem = "per_item_threads";

    /// <summary>The way to wait for a resource that blocks a thread on asynchronous code.</summary>
    public const string BlockedRent = "RentAsync().AsTask().Wait()";

    /// <summary>The way that parks.</summary>
    public const string ParkedRent = "Rent";

    /// <summary>The way that awaits.</summary>
    public const string AwaitedRent = "await RentAsync";

    private const int Callers = 16;
    private static readonly TimeSpan Held = TimeSpan.FromMilliseconds(400);

    /// <summary>Runs items in one way and counts threads and memory.</summary>
    public static Dictionary<string, double> Count(string way, string work, int items, ProbeSite site)
    {
        WarmUp(way, work);
        site.Quiet();
        using var watch = new ThreadWatch();
        long allocated = GC.GetTotalAllocatedBytes(precise: true);
        ItemRunner runner = ItemRunner.Open(way);
        long start = Stopwatch.GetTimestamp();
        Run(runner, work, items, watch);
        double nanoseconds = Stopwatch.GetElapsedTime(start).TotalNanoseconds;
        allocated = GC.GetTotalAllocatedBytes(precise: true) - allocated;
        watch.Stop();
        return new()
        {
            [Time] = nanoseconds,
            ["distinct_threads"] = watch.Distinct,
            ["peak_threads"] = watch.Peak,
            [PerItem] = (double)watch.Distinct / items,
            ["rss_B"] = watch.PeakResident,
            ["allocated_B"] = allocated,
        };
    }

    /// <summary>
    /// Work items of the thread pool wait for the one resource of a pool, which is held by a thread outside of it for a while.
    /// </summary>
    public static Dictionary<string, double> Wait(string way, ProbeSite site)
    {
        site.Quiet();
        var pool = new ResourcePool<Thing>(
            new ThingPolicy(), new() { Name = "waiting", MaxSize = 1, RentTimeout = TimeSpan.FromMinutes(5) });
        ResourceLease<Thing> held = pool.Rent(TimeSpan.FromMinutes(5));
        using var watch = new ThreadWatch();
        Task[] callers = [.. Enumerable.Range(0, Callers).Select(_ => Task.Run(() => UseAsync(pool, way)))];
        Thread.Sleep(Held);
        int whileHeld = ThreadPool.ThreadCount;
        long start = Stopwatch.GetTimestamp();
        held.Dispose();
        Task.WaitAll(callers);
        double nanoseconds = Stopwatch.GetElapsedTime(start).TotalNanoseconds;
        watch.Stop();
        pool.DisposeAsync().AsTask().GetAwaiter().GetResult();
        return new()
        {
            ["threads_while_held"] = whileHeld,
            ["peak_threads"] = watch.Peak,
            ["served_after_ns"] = nanoseconds,
            ["callers_count"] = Callers,
        };
    }

    private static async Task UseAsync(ResourcePool<Thing> pool, string way)
    {
        switch (way)
        {
            case BlockedRent:
                Task<ResourceLease<Thing>> rental = pool.RentAsync().AsTask();
                rental.Wait();
                rental.Result.Dispose();
                break;
            case ParkedRent:
                pool.Rent(TimeSpan.FromMinutes(5)).Dispose();
                break;
            default:
                (await pool.RentAsync().ConfigureAwait(false)).Dispose();
                break;
        }
    }

    /// <summary>Compiles what will run, with a few items: the compiler's time and threads are not those of the items.</summary>
    private static void WarmUp(string way, string work)
    {
        using var watch = new ThreadWatch();
        Run(ItemRunner.Open(way), work, 4, watch);
    }

    private static void Run(ItemRunner runner, string work, int items, ThreadWatch watch)
    {
        if (work == ItemWork.Delay)
        {
            runner.Run(items, async () =>
            {
                watch.Note();
                await ItemWork.DelayAsync().ConfigureAwait(false);
                watch.Note();
            });
            return;
        }

        Action item = ItemWork.Of(work);
        runner.Run(items, () =>
        {
            watch.Note();
            item();
        });
    }
}
