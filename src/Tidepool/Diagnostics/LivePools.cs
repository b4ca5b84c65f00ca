namespace Tidepool;

/// <summary>A pool, as the list of live ones sees it.</summary>
internal interface ILivePool
{
    /// <summary>The name, which comes free when the pool ends.</summary>
    PoolName PoolName { get; }

    /// <summary>The pool at this moment.</summary>
    PoolInfo Describe();

    /// <summary>The most bytes that may wait idle; -1 where the pool has no limit of its own, or counts no bytes.</summary>
    long BudgetBytes => -1;

    /// <summary>The number that stands for the pool in events of rentals; 0 where it writes none.</summary>
    int PoolId => 0;

    /// <summary>The bytes of one element of a buffer; 0 where there are none.</summary>
    int ElementBytes => 0;

    /// <summary>How long the oldest lease has been out, and where it was rented.</summary>
    /// <returns>Null where the pool notes no times, or no lease is out.</returns>
    OldestLease? DescribeOldest() => null;
}

/// <summary>The lease that has been out for the longest time.</summary>
/// <param name="Milliseconds">Its age.</param>
/// <param name="Site">Where it was rented; empty unless the pool captures call sites.</param>
internal readonly record struct OldestLease(long Milliseconds, string Site);

/// <summary>
/// Refers weakly to each live pool. A pool that ended is left out; references to what was collected go when the list has doubled since it
/// was last swept.
/// </summary>
internal static class LivePools
{
    private const int FirstSweep = 64;

    private static readonly Lock Gate = new();
    private static readonly List<WeakReference<ILivePool>> Known = [];
    private static int s_sweepAt = FirstSweep;

    /// <summary>How many references there are, those to dead pools included. For tests.</summary>
    internal static int Count
    {
        get
        {
            lock (Gate)
            {
                return Known.Count;
            }
        }
    }

    /// <summary>Adds a pool that is ready to be described.</summary>
    internal static void Add(ILivePool pool)
    {
        TidepoolEventSource.Announce();
        lock (Gate)
        {
            if (Known.Count >= s_sweepAt)
            {
                Known.RemoveAll(static weak => !weak.TryGetTarget(out ILivePool? pool) || pool.PoolName.IsFree);
                s_sweepAt = Math.Max(FirstSweep, Known.Count * 2);
            }

            Known.Add(new WeakReference<ILivePool>(pool));
        }
    }

    /// <summary>The pools that have not ended. They are described outside of the lock: that takes locks of theirs.</summary>
    internal static List<ILivePool> Snapshot()
    {
        lock (Gate)
        {
            var live = new List<ILivePool>(Known.Count);
            foreach (WeakReference<ILivePool> weak in Known)
            {
                if (weak.TryGetTarget(out ILivePool? pool) && !pool.PoolName.IsFree)
                {
                    live.Add(pool);
                }
            }

            return live;
        }
    }
}
