namespace Tidepool.Labs;

/// <summary>Lab <c>objects</c>: which pool for objects, and does it scale?</summary>
internal sealed class ObjectsLab : ILab
{
    private const int Drained = 2048;
    private const int FewDrained = 256;
    private const int Deep = 64;

    /// <inheritdoc/>
    public string Name => "objects";

    /// <inheritdoc/>
    public string Question => "Which pool for objects, and does it scale?";

    /// <inheritdoc/>
    public string Headline => InstanceSubject.Lease;

    /// <inheritdoc/>
    public IReadOnlyList<string> Without => [InstanceSubject.New];

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["Microsoft.Extensions.ObjectPool"] = RivalVersion.Of(typeof(Microsoft.Extensions.ObjectPool.ObjectPool));
        plan.Rivals["ConcurrentBag"] = RivalVersion.Of(typeof(System.Collections.Concurrent.ConcurrentBag<int>));
        AddRentals(plan);
        Additions.AddTo(plan, 4, 8);
        AddDeep(plan);
        AddDrain(plan);
        Judge(plan);
    }

    private static Cell Point(string item, int depth, int threads) => Cell.Of(("item", item), ("depth", depth), ("threads", threads));

    private static Cell State(int depth, int threads) => Point("parser state", depth, threads);

    private static Cell DeepCell { get; } = Point("StringBuilder of 1 KB", Deep, 2);

    private static Cell Drain(int count) => Cell.Of(("drained", $"{count} objects"));

    private static void AddRentals(LabPlan plan)
    {
        foreach (int count in ThreadCounts.Of(plan.Mode, 4, 8))
        {
            var section = new Section
            {
                Title = count == 1 ? "One thread" : $"{count} threads at once",
                About = count == 1
                    ? "Rent an object, touch it, return it, which resets it; depth is how many are held at a time. A parser state "
                        + "has 4 KB; a string builder gets three characters appended."
                    : $"The same loops on all threads at the same time; wall time for each object over all threads, "
                        + $"{Environment.ProcessorCount} cores.",
                Baseline = InstanceSubject.Microsoft,
                Varies = ["item", "depth"],
                Operation = "object",
            };
            foreach (int depth in (int[])[1, 8])
            {
                AddAll(plan, section, State(depth, count), InstanceSubject.States, subject => subject.Create(depth, count));
                AddAll(
                    plan,
                    section,
                    Point("StringBuilder", depth, count),
                    InstanceSubject.Builders,
                    subject => subject.Create(depth, count));
            }
        }
    }

    /// <summary>More than a magazine holds at first, of objects that are cheap to make.</summary>
    private static void AddDeep(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Two threads, many held at a time",
            About = $"Rent {Deep} builders with room for 512 characters, append to each, return all; wall time for each over both threads.",
            Baseline = InstanceSubject.New,
            Varies = ["item", "depth"],
            Operation = "object",
        };
        AddAll(plan, section, DeepCell, InstanceSubject.LongBuilders, static subject => subject.Create(Deep, 2));
        plan.Add(new RatioRule(
            Bars.ObjectsDeep,
            [
                .. ((string[])[InstanceSubject.Raw, InstanceSubject.Lease])
                    .Select(static subject => (new WorkloadKey(DeepCell, subject), new WorkloadKey(DeepCell, InstanceSubject.New)))
            ]));
    }

    private static void AddDrain(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Drain and refill",
            About = "Rent that many parser states one after the other, then return them all; time for each object. A pool that "
                + "searches for a free place takes longer for each the more there are.",
            Baseline = InstanceSubject.Microsoft,
            Varies = ["drained"],
            Operation = "object",
        };
        foreach (int count in (int[])[FewDrained, Drained])
        {
            AddAll(
                plan,
                section,
                Drain(count),
                InstanceSubject.States.Where(subject => subject.Name != InstanceSubject.New),
                subject => subject.Drain(count));
        }
    }

    private static void AddAll(
        LabPlan plan, Section section, Cell cell, IEnumerable<InstanceSubject> subjects, Func<InstanceSubject, Loop> loop)
    {
        foreach (var subject in subjects)
        {
            plan.Add(new Workload { Key = new(cell, subject.Name), Section = section, Ours = subject.Ours, Create = () => loop(subject) });
        }
    }

    private static void Judge(LabPlan plan)
    {
        string[] both = [InstanceSubject.Raw, InstanceSubject.Lease];
        Cell[] alone = [State(1, 1), State(8, 1)];
        Cell[] together = [State(1, 2), State(8, 2)];
        Cell[] drains = [Drain(FewDrained), Drain(Drained)];
        plan.Add(Within(Bars.ObjectsDepth1, alone[..1], [InstanceSubject.Raw]));
        plan.Add(Within(Bars.ObjectsLease, alone[..1], [InstanceSubject.Lease]));
        plan.Add(Within(Bars.ObjectsDepth8, alone[1..], [InstanceSubject.Raw]));
        plan.Add(
            new BytesRule(
                Bars.ObjectsBytes,
                [.. from cell in alone.Concat(together) from subject in both select new WorkloadKey(cell, subject)]));
        plan.Add(Within(Bars.ObjectsThreads, together, both));
        plan.Add(Additions.Rule(
            Bars.ObjectsScaling,
            2,
            1,
            [
                .. from subject in both
                   from place in Enumerable.Range(0, alone.Length)
                   select (new WorkloadKey(together[place], subject), new WorkloadKey(alone[place], subject)),
            ]));
        plan.Add(Additions.CrowdRule(
            plan,
            Bars.ObjectsCrowd,
            [
                .. from subject in both
                   from depth in (int[])[1, 8]
                   select (
                       new WorkloadKey(State(depth, ThreadCounts.Crowd), subject),
                       new WorkloadKey(State(depth, Environment.ProcessorCount), subject)),
            ]));
        plan.Add(Within(Bars.ObjectsDrain, drains[1..], [InstanceSubject.Raw]));
        plan.Add(Within(Bars.ObjectsDrainLease, drains[1..], [InstanceSubject.Lease]));
        plan.Add(new RatioRule(
            Bars.ObjectsLinear, [.. both.Select(subject => (new WorkloadKey(drains[1], subject), new WorkloadKey(drains[0], subject)))]));
    }

    private static RatioRule Within(Bar bar, IEnumerable<Cell> cells, IEnumerable<string> ours) => new(
        bar,
        [
            .. from cell in cells
               from subject in ours
               select (new WorkloadKey(cell, subject), new WorkloadKey(cell, InstanceSubject.Microsoft)),
        ]);
}
