using System.Diagnostics;
using System.Globalization;
using Tidepool.Timing;

namespace Tidepool.Labs;

/// <summary>
/// A program with one habit, as it was before a pool and as it is after: <c>advise</c> looks at the first while it is paced, and
/// <c>advise --verify</c> lets both do the same work. Both are warm in both, so that no more is compiled in one than in the other.
/// </summary>
internal static class PlantedProgram
{
    /// <summary>The first argument of such a process; after it the name of a pair, which of the two, and how many operations.</summary>
    public const string Argument = "--planted";

    /// <summary>The second argument of the program without a pool.</summary>
    public const string Before = "before";

    /// <summary>The second argument of the program with one.</summary>
    public const string After = "after";

    /// <summary>In place of operations: at the pair's pace, until the input ends.</summary>
    public const string Paced = "paced";

    private const int LongestDelay = 20; // milliseconds
    private const int WaitSpins = 10;
    private const int WarmCalls = 100;
    private const int CallOperations = 3;

    /// <summary>Runs it.</summary>
    public static int Run(string pair, string variant, string operations)
    {
        PlantedPair planted = PlantedPairs.All.Single(one => one.Name == pair);
        CodeWarmUp.Run(() =>
        {
            for (int call = 0; call < WarmCalls; call++)
            {
                planted.Before(CallOperations);
                planted.After(CallOperations);
            }
        });

        Action<int> work = variant == After ? planted.After : planted.Before;
        if (operations == Paced)
        {
            new Thread(() => WorkAtPace(work, planted.OperationsPerSecond)) { IsBackground = true }.Start();
            Console.WriteLine(MessageLine.Write(planted.OperationsPerSecond));
            while (Console.In.ReadLine() is not null)
            {
                // Until the input ends.
            }
        }
        else
        {
            work(int.Parse(operations, CultureInfo.InvariantCulture));
        }

        return 0;
    }

    /// <summary>
    /// By the clock: an operation that is a little late is made up for. Later ones are left out: the program stood still between two slices
    /// of the tool, and the next slice would see more than its pace. It waits without sleep: after each sleep the caches and the clock of
    /// the core are cold, and collections take several times as long as in the runs that verify.
    /// </summary>
    private static void WorkAtPace(Action<int> work, int perSecond)
    {
        long start = Stopwatch.GetTimestamp();
        for (long done = 0; ;)
        {
            int due = (int)(Stopwatch.GetElapsedTime(start).TotalSeconds * perSecond - done);
            int late = Math.Max(0, due - perSecond * LongestDelay / 1000);
            (due, done) = (due - late, done + late);
            if (due > 0)
            {
                work(due);
                done += due;
            }

            Thread.SpinWait(WaitSpins);
        }
    }
}
