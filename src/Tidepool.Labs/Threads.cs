namespace Tidepool.Labs;

/// <summary>
/// Lab <c>threads</c>: threads, thread pool or tasks? There is no pool of ours for threads: the runtime has one. Ours is here only where
/// callers on its threads wait for a resource.
/// </summary>
internal sealed class ThreadsLab : ILab
{
    private const int Many = 10_000;
    private const int Fewer = 1000;
    private const int Asleep = 200;

    /// <inheritdoc/>
    public string Name => "threads";

    /// <inheritdoc/>
    public string Question => "Threads, thread pool or tasks?";

    /// <inheritdoc/>
    public string Headline => ItemRunner.Tasks;

    /// <inheritdoc/>
    public IReadOnlyList<string> Without => [ItemRunner.ThreadEach];

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["ThreadPool"] = RivalVersion.Of(typeof(ThreadPool));
        plan.Rivals["Parallel"] = RivalVersion.Of(typeof(Parallel));
        if (plan.Mode == LabMode.Quick)
        {
            plan.Rounds = 1; // ten thousand threads take most of a second
            plan.Doublings = 0;
        }

        Time(plan);
        Count(plan);
        Wait(plan);
    }

    private static Cell Point(string work, int items) => Cell.Of(("work", work), ("items", items));

    private static Cell Counted(string work, int items) => Cell.Of(("work", work), ("items", items), ("what", "counted"));

    private static void Time(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Time of an item",
            About = "So many items of work at once, until all are done; wall time for each, threads made anew where they are not pooled.",
            Baseline = ItemRunner.Tasks,
            Varies = ["work", "items"],
            Operation = "item",
            Headline = false, // none of the ways is ours
        };
        (string, int)[] quick = [(ItemWork.Empty, Many), (ItemWork.Compute, Fewer)];
        (string, int)[] full = [(ItemWork.Empty, Fewer), (ItemWork.Empty, Many), (ItemWork.Compute, Fewer), (ItemWork.Compute, Many)];
        foreach (var (work, items) in plan.Mode == LabMode.Full ? full : quick)
        {
            foreach (string way in ItemRunner.All)
            {
                plan.Add(new Workload
                {
                    Key = new(Point(work, items), way),
                    Section = section,
                    Ours = false,
                    Create = () => Loop(ItemRunner.Open(way), ItemWork.Of(work)),
                    FixedOperations = items,
                    EveryRounds = items == Many ? 5 : 1,
                });
            }
        }

        WorkloadKey each = new(Point(ItemWork.Empty, Many), ItemRunner.ThreadEach);
        plan.Add(new RatioRule(
            Bars.ThreadsPooled,
            [
                .. ((string[])[ItemRunner.Queue, ItemRunner.Tasks, ItemRunner.For, ItemRunner.ForEach])
                    .Select(way => (each with { Subject = way }, each))
            ]));
    }

    /// <summary>The calling thread waits, which is no part of the measured loop's thread: bytes are counted over all threads.</summary>
    private static AsyncLoop Loop(ItemRunner runner, Action item) => new(items =>
    {
        runner.Run(items, item);
        return Task.CompletedTask;
    });

    private static void Count(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Threads and memory",
            About = "Once each, in a process of its own: time of all items, different threads that worked on them, the most threads "
                + "at a time and resident memory beyond those of before, bytes allocated.",
            Layout = SectionLayout.Metrics,
            Varies = ["work", "items"],
        };
        bool isFull = plan.Mode == LabMode.Full;
        var counted = new List<WorkloadKey>();
        void Add(string work, int items, IEnumerable<string> ways, bool waits)
        {
            foreach (string way in ways)
            {
                WorkloadKey key = new(Counted(work, items), way);
                counted.Add(key);
                plan.Add(
                    new Probe
                    {
                        Key = key,
                        Section = section,
                        Ours = false,
                        Waits = waits,
                        Run = site => ThreadProbes.Count(way, work, items, site),
                    });
            }
        }

        Add(ItemWork.Empty, isFull ? Many : Fewer, isFull ? ItemRunner.All : [ItemRunner.ThreadEach, ItemRunner.Tasks], waits: false);
        if (isFull)
        {
            Add(ItemWork.Compute, Fewer, ItemRunner.All, waits: false);
        }

        foreach (int items in isFull ? new[] { Fewer, Many } : [Asleep])
        {
            Add(ItemWork.Sleep, items, ItemRunner.All, waits: true);
            Add(ItemWork.Delay, items, ItemRunner.Awaiting, waits: true);
        }

        int fewest = isFull ? Fewer : Asleep;
        plan.Add(new MetricRatioRule(
            Bars.ThreadsAsync,
            ThreadProbes.Time,
            [
                .. ((string[])[ItemRunner.Queue, ItemRunner.Tasks])
                    .Select(
                        way => (
                            new WorkloadKey(Counted(ItemWork.Delay, fewest), way),
                            new WorkloadKey(Counted(ItemWork.Sleep, fewest), way)))
            ]));
        plan.Add(new MetricRule(Bars.ThreadsDistinct, ThreadProbes.PerItem, counted));
    }

    private static void Wait(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Waiting for a resource on threads of the pool",
            About = "16 work items wait for the one resource of a pool of ours, which is held for 400 ms; threads of the thread pool "
                + "meanwhile, the most threads at any time beyond those of before, and when all were served after the return.",
            Layout = SectionLayout.Metrics,
            Varies = ["wait"],
        };
        foreach (string way in (string[])[ThreadProbes.BlockedRent, ThreadProbes.ParkedRent, ThreadProbes.AwaitedRent])
        {
            plan.Add(new Probe
            {
                Key = new(Cell.Of(("wait", "16 on 1")), way),
                Section = section,
                Ours = way != ThreadProbes.BlockedRent,
                Waits = true,
                Run = site => ThreadProbes.Wait(way, site),
            });
        }
    }
}
