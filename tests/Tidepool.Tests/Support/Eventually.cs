using System.Diagnostics;

namespace Tidepool.Tests.Support;

/// <summary>Bounded waits: they end as soon as the condition holds and fail, saying what was waited for, after a long time.</summary>
public static class Eventually
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    public static void True(Func<bool> condition, string what)
    {
        ArgumentNullException.ThrowIfNull(condition);
        Stopwatch watch = Stopwatch.StartNew();
        while (!condition())
        {
            Assert.True(watch.Elapsed < Limit, $"Waited {Limit.TotalSeconds} s in vain for: {what}");
            Thread.Sleep(1);
        }
    }

    /// <summary>Like <see cref="True"/>, with a forced collection and its finalizers before each look.</summary>
    public static void TrueAfterCollections(Func<bool> condition, string what)
    {
        ArgumentNullException.ThrowIfNull(condition);
        True(
            () =>
            {
                Collect();
                return condition();
            },
            what);
    }

    /// <summary>Collects twice, each time with its finalizers: a dropped rental counts when it is found dead the second time.</summary>
    public static void Collect()
    {
        for (int turn = 0; turn < 2; turn++)
        {
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
            GC.WaitForPendingFinalizers();
        }
    }
}
