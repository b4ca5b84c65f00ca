namespace Tidepool.Labs;

/// <summary>
/// A loop of additions that touches no memory, on several threads at once: what the machine itself gives to a second thread, and to more
/// threads than it has cores. Goals that compare thread counts compare with it.
/// </summary>
internal static class Additions
{
    private const string Subject = "loop of additions";

    private static long s_sum;

    /// <summary>Adds the loop with every thread count of the mode.</summary>
    public static void AddTo(LabPlan plan, params int[] counts)
    {
        var section = new Section
        {
            Title = "What the machine gives to threads",
            About = "A loop of additions that touches no memory, on all threads at the same time; wall time for each turn over all "
                + "threads. Where two threads take more than half the time of one, the cores are not independent.",
            Varies = ["threads"],
            Operation = "turn",
        };
        foreach (int threads in ThreadCounts.Of(plan.Mode, counts))
        {
            plan.Add(new Workload { Key = Key(threads), Section = section, Ours = false, Create = () => Create(threads) });
        }
    }

    /// <summary>Judges what many threads take, in parts of what few take, against that ratio of the loop.</summary>
    /// <param name="bar">The goal.</param>
    /// <param name="many">Threads.</param>
    /// <param name="few">Fewer threads.</param>
    /// <param name="pairs">The workloads with many threads and with few.</param>
    public static ScalingRule Rule(Bar bar, int many, int few, IEnumerable<(WorkloadKey Many, WorkloadKey Few)> pairs) =>
        new(bar, [.. pairs.Select(pair => (pair, (Key(many), Key(few))))]);

    /// <summary>Judges what a crowd of threads takes, in parts of what one for each core takes, against that ratio of the loop.</summary>
    /// <param name="plan">Its mode says whether there is a crowd.</param>
    /// <param name="bar">The goal.</param>
    /// <param name="pairs">The workloads with a crowd and with one thread for each core.</param>
    public static VerdictRule CrowdRule(LabPlan plan, Bar bar, IEnumerable<(WorkloadKey Many, WorkloadKey Few)> pairs) =>
        ThreadCounts.HasCrowd(plan.Mode)
            ? Rule(bar, ThreadCounts.Crowd, Environment.ProcessorCount, pairs)
            : new OmittedRule(bar, "no loop with eight threads for each core: --full");

    private static WorkloadKey Key(int threads) => new(Cell.Of(("loop", "additions"), ("threads", threads)), Subject);

    private static Loop Create(int threads) => threads == 1
        ? new SingleThreadLoop(static operations => Add(0, operations))
        : new ParallelLoop(Add, threads);

    /// <summary>Four sums that do not wait for each other, as many instructions in a turn as in a rental.</summary>
    private static void Add(int member, int operations)
    {
        long a = member, b = 1, c = 2, d = 3;
        for (int i = 0; i < operations; i++)
        {
            for (int step = 0; step < 8; step++)
            {
                a += i;
                b += step;
                c ^= i;
                d -= step;
            }
        }

        Volatile.Write(ref s_sum, a + b + c + d); // once, so that the loop is not left out
    }
}
