namespace Tidepool.Labs;

/// <summary>Pools of one size, and memory resources: each against its like.</summary>
internal static class NativeFaces
{
    private static readonly Cell RemoteCell = Cell.Of(("returned by", "another thread"));

    /// <summary>Adds workloads, a probe and verdicts.</summary>
    public static void Describe(LabPlan plan)
    {
        var pairs = AddPools(plan);
        plan.Add(Mean(Bars.PoolBoost, pairs, 1, NativeSubjects.Pool, NativeSubjects.BoostPool));
        plan.Add(Mean(Bars.PoolSingleton, pairs, 1, NativeSubjects.Pool, NativeSubjects.BoostSingleton));
        plan.Add(Mean(Bars.PoolSingletonMany, pairs, NativeGrid.Many, NativeSubjects.Pool, NativeSubjects.BoostSingleton));
        plan.Add(new MetricRule(Bars.PoolRemote, "still_rented_B", new WorkloadKey(RemoteCell, NativeSubjects.Pool.Name)));
        var resources = AddResources(plan);
        plan.Add(Mean(Bars.ResourceSynchronized, resources, 1, NativeSubjects.Resource, NativeSubjects.Synchronized));
        plan.Add(Mean(Bars.ResourceSynchronizedMany, resources, NativeGrid.Many, NativeSubjects.Resource, NativeSubjects.Synchronized));
        plan.Add(Mean(Bars.ResourceUnsynchronized, resources, 1, NativeSubjects.Resource, NativeSubjects.Unsynchronized));
    }

    private static Cell[] AddPools(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Pools of one size",
            About =
                "One block at a time, rented and returned by the same thread, or "
                    + "(producer/consumer) by another. boost::pool is for one thread only.",
            Baseline = NativeSubjects.BoostSingleton.Name,
            Layout = SectionLayout.Matrix,
            Varies = ["pattern", "size", "threads"],
            Operation = "block",
        };
        int[] sizes = plan.Mode == LabMode.Full ? [64, 512, 4096] : [64];
        Cell[] pairs =
            [.. from threads in (int[])[1, NativeGrid.Many] from size in sizes select NativeGrid.Point(NativeGrid.Pair, size, threads)];
        Cell[] cells = [.. pairs, .. sizes.Select(size => NativeGrid.Point(NativeGrid.Ring, size, 2))];
        AddAll(plan, section, cells, NativeSubjects.BoostPool, NativeSubjects.BoostSingleton, NativeSubjects.Pool);
        var counts = new Section
        {
            Title = "Returned by another thread",
            About =
                "Blocks of a pool<T> that a second thread returns, 32768 of each size: what the pool still counts as rented afterwards.",
            Layout = SectionLayout.Metrics,
            Varies = ["returned by"],
        };
        plan.Add(NativeSubjects.Pool.NewProbe(counts, RemoteCell, static _ => CountRented()));
        return pairs;
    }

    private static Dictionary<string, double> CountRented()
    {
        using var driver = new DriverProcess(NativeSubjects.Pool);
        double returned = 0;
        foreach (int size in (int[])[64, 512, 4096])
        {
            returned += driver.Measure($"run ring {size} 2 1").Operations;
        }

        return new()
        {
            ["returned"] = returned,
            ["still_rented_B"] = double.Parse(driver.Ask("left"), System.Globalization.CultureInfo.InvariantCulture),
        };
    }

    private static Cell[] AddResources(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Memory resources",
            About = "One block at a time through std::pmr::memory_resource. The unsynchronized resource is for one thread only.",
            Baseline = NativeSubjects.Synchronized.Name,
            Layout = SectionLayout.Matrix,
            Varies = ["size", "threads"],
            Operation = "block",
        };
        IReadOnlyList<int> sizes = plan.Mode == LabMode.Full ? NativeGrid.Sizes : [64];
        Cell[] cells =
            [.. from threads in (int[])[1, NativeGrid.Many] from size in sizes select NativeGrid.Point(NativeGrid.Pair, size, threads)];
        AddAll(plan, section, cells, NativeSubjects.Synchronized, NativeSubjects.Unsynchronized, NativeSubjects.Resource);
        return cells;
    }

    private static void AddAll(LabPlan plan, Section section, Cell[] cells, params NativeSubject[] subjects)
    {
        foreach (var cell in cells)
        {
            foreach (var subject in subjects.Where(subject => subject.ManyThreads || cell["threads"] == "1"))
            {
                plan.Add(
                    NativeTimes.WorkloadOf(
                        section,
                        cell,
                        subject,
                        plan.Mode,
                        plan.Mode == LabMode.Full || cell["threads"] == "1" ? 1 : plan.Rounds));
            }
        }
    }

    private static MeanRatioRule Mean(Bar bar, IEnumerable<Cell> cells, int threads, NativeSubject ours, NativeSubject other) =>
        new(bar, [new($"{threads} threads", [.. cells.Where(cell => cell["threads"] == $"{threads}")])], ours.Name, [other.Name]);
}
