using System.Globalization;

namespace Tidepool;

/// <summary>Writes the state of every live pool to the event source, again and again, while a listener asks for it.</summary>
/// <remarks>
/// On a thread of its own: a thread pool without free threads is what one looks at a program for. Nothing runs, and no thread exists, while
/// no listener asks.
/// </remarks>
internal static class PoolPublisher
{
    /// <summary>The argument by which a listener asks: the milliseconds between two rounds.</summary>
    internal const string Argument = "PoolInterval";

    /// <summary>The argument, of any value, by which a listener asks for shadows too.</summary>
    internal const string ShadowArgument = "PoolShadow";

    private const int Shortest = 100;
    private const int Longest = 60_000;

    private static readonly object Gate = new(); // Monitor.Wait needs an object
    private static int? s_interval;
    private static bool s_hasThread;

    /// <summary>The interval that the arguments of a command name, within the allowed range; null when they ask for nothing.</summary>
    internal static int? IntervalOf(IDictionary<string, string?>? arguments) =>
        arguments is not null
            && arguments.TryGetValue(Argument, out string? text)
            && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int milliseconds)
            ? Math.Clamp(milliseconds, Shortest, Longest)
            : null;

    /// <summary>Whether the arguments of a command ask for shadows.</summary>
    internal static bool WantsShadows(IDictionary<string, string?>? arguments) => arguments?.ContainsKey(ShadowArgument) == true;

    /// <summary>Publishes at an interval from now on; null stops.</summary>
    internal static void Change(int? interval)
    {
        lock (Gate)
        {
            s_interval = interval;
            Monitor.PulseAll(Gate);
            if (interval is not null && !s_hasThread)
            {
                new Thread(Run) { IsBackground = true, Name = "Tidepool pools" }.UnsafeStart(); // without the listener's context
                s_hasThread = true;
            }
        }
    }

    private static void Run()
    {
        while (WaitForRound())
        {
            Shield(PublishAll);
        }
    }

    /// <summary>Waits until the next round is due.</summary>
    /// <returns>False when no listener asks any more; the thread ends then.</returns>
    private static bool WaitForRound()
    {
        lock (Gate)
        {
            if (s_interval is { } interval)
            {
                Monitor.Wait(Gate, interval);
            }

            return s_hasThread = s_interval is not null;
        }
    }

    private static void PublishAll()
    {
        List<ILivePool> pools = LivePools.Snapshot();
        foreach (ILivePool pool in pools)
        {
            Shield(() => Publish(pool, pool.Describe(), pool.DescribeOldest()));
            Shield(() => PublishShadow(pool));
        }

        TidepoolEventSource.Log.PoolsDescribed(pools.Count);
    }

    /// <summary>Drops what a pool or a listener throws: the other pools and the next round come all the same.</summary>
    private static void Shield(Action publish)
    {
        try
        {
            publish();
        }
        catch (Exception)
        {
            // No caller waits for the answer.
        }
    }

    private static void Publish(ILivePool live, PoolInfo pool, OldestLease? oldest)
    {
        (long age, string site) = oldest is { } lease ? (lease.Milliseconds, lease.Site) : (-1, string.Empty);
        string kind = pool.Kind.ToString();
        if (pool.Statistics is { } memory)
        {
            TidepoolEventSource.Log.PoolDescribed(
                pool.Name, kind, memory.Rented, memory.Returned, memory.Missed, memory.Dropped, memory.Idle, memory.Leased,
                memory.BytesIdle, memory.BytesLeased, memory.Misuses, memory.Failures, waiting: -1, maxSize: -1, age, site,
                memory.Trimmed, memory.Refused, live.BudgetBytes, memory.Misuse.Text(), live.PoolId,
                live.ElementBytes);
        }
        else if (pool.ResourceStatistics is { } resources)
        {
            TidepoolEventSource.Log.PoolDescribed(
                pool.Name, kind, resources.Rented, resources.Returned, resources.Created, resources.Destroyed, resources.Idle,
                resources.Leased, bytesIdle: -1, bytesLeased: -1, resources.Overdue + resources.Reclaimed + resources.StaleDisposes,
                resources.TimedOut + resources.Rejected + resources.CreateFailures, resources.Waiting, resources.MaxSize, age, site,
                trimmed: -1, refused: -1, budgetBytes: -1, ResourceMisuse(resources), poolId: 0, elementBytes: 0);
        }
    }

    private static string ResourceMisuse(ResourcePoolStatistics pool) => string.Join(
        ' ',
        new (string Kind, long Count)[] { ("Overdue", pool.Overdue), ("Reclaimed", pool.Reclaimed), ("StaleDispose", pool.StaleDisposes) }
            .Where(static one => one.Count > 0).Select(static one => $"{one.Kind}={one.Count}"));

    private static void PublishShadow(ILivePool pool)
    {
        foreach (ShadowClass one in PoolShadow.Of(pool)?.Snapshot() ?? [])
        {
            TidepoolEventSource.Log.PoolClassDescribed(
                pool.PoolName.Text, one.Length, one.Bytes, one.IsKept, one.Missed, one.Dropped, string.Join(',', one.Served));
        }
    }
}
