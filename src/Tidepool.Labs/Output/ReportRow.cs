namespace Tidepool.Labs;

/// <summary>One line of a lab's results, as it is stored and shown; a field that the lab cannot fill is null.</summary>
internal sealed record ReportRow
{
    /// <summary>The point of the grid.</summary>
    public required Cell Cell { get; init; }

    /// <summary>The subject.</summary>
    public required string Subject { get; init; }

    /// <summary>Whether it is ours.</summary>
    public required bool Ours { get; init; }

    /// <summary>Median time of an operation.</summary>
    public double? MedianNs { get; init; }

    /// <summary>
    /// The time that tables show: of the baseline its median, of the others that times the ratio. So the times of a cell come from the
    /// same paired rounds as its ratios, and no row contradicts itself. Where there is no ratio it is the median.
    /// </summary>
    public double? TimeNs { get; init; }

    /// <summary>Shortest time of an operation.</summary>
    public double? MinNs { get; init; }

    /// <summary>Bytes allocated by an operation.</summary>
    public double? BytesPerOp { get; init; }

    /// <summary>Collections per 1000 operations, generation 0 and above.</summary>
    public double? Gen0 { get; init; }

    /// <summary>Collections per 1000 operations, generation 1 and above.</summary>
    public double? Gen1 { get; init; }

    /// <summary>Collections per 1000 operations, generation 2.</summary>
    public double? Gen2 { get; init; }

    /// <summary>The subject that the ratio refers to.</summary>
    public string? Baseline { get; init; }

    /// <summary>Time over the baseline's, of paired rounds.</summary>
    public RatioEstimate? Ratio { get; init; }

    /// <summary>What has no column.</summary>
    public IReadOnlyDictionary<string, double> Metrics { get; init; } = new Dictionary<string, double>();

    /// <summary>Why the row is empty, or null when it is not.</summary>
    public string? Dropped { get; init; }

    /// <summary>Who, and where.</summary>
    public WorkloadKey Key => new(Cell, Subject);

    /// <summary>Whether the row has nothing to show.</summary>
    public bool IsEmpty => MedianNs is null && Metrics.Count == 0;
}

/// <summary>A lab's results as they are stored and shown.</summary>
internal sealed record ReportLab(string Name, int Processes, IReadOnlyList<ReportRow> Rows, IReadOnlyList<Verdict> Verdicts)
{
    /// <summary>The rows, with the times that tables show.</summary>
    public IReadOnlyList<ReportRow> Rows { get; init => field = WithTimes(value); } = WithTimes(Rows);

    private static ReportRow[] WithTimes(IReadOnlyList<ReportRow> rows)
    {
        var baselines = rows.Where(row => row.Subject == row.Baseline && row.MedianNs is not null)
            .DistinctBy(row => row.Key)
            .ToDictionary(row => row.Key, row => row.MedianNs);
        return
        [
            .. rows.Select(row => row with
            {
                TimeNs = row is { Ratio: { } ratio, Baseline: { } baseline, MedianNs: not null }
                    && baselines.TryGetValue(new(row.Cell, baseline), out double? usual)
                        ? usual * ratio.Value
                        : row.MedianNs,
            }),
        ];
    }
}

/// <summary>A part of a lab's table with its rows.</summary>
internal sealed record ReportSection(Section Section, IReadOnlyList<ReportRow> Rows)
{
    /// <summary>The rows by cell, in order.</summary>
    public IEnumerable<IGrouping<Cell, ReportRow>> Cells => Rows.GroupBy(row => row.Cell);

    /// <summary>What tells a cell from the others of its section.</summary>
    public string Label(Cell cell) => cell.Describe(Section.Varies);
}

/// <summary>Turns what was measured into rows.</summary>
internal static class ReportBuilder
{
    /// <summary>The lab's results.</summary>
    public static ReportLab Build(LabOutcome outcome) => new(
        outcome.Lab.Name,
        outcome.Processes,
        [
            .. outcome.Plan.Workloads.Select(workload => FromWorkload(workload, outcome.Results)),
            .. outcome.Plan.Derived.Select(derived => FromDerived(derived, outcome.Results)).OfType<ReportRow>(),
            .. outcome.Plan.Probes.Where(probe => !probe.OnlySteps || outcome.Results.Metrics(probe.Key) is null)
                .Select(probe => FromProbe(probe, outcome.Results)),
        ],
        outcome.Verdicts);

    /// <summary>Groups rows by the sections of a plan; rows that the plan does not know are left out.</summary>
    public static IReadOnlyList<ReportSection> Group(LabPlan plan, IEnumerable<ReportRow> rows)
    {
        var sections = new Dictionary<WorkloadKey, Section>();
        foreach (var workload in plan.Workloads)
        {
            sections[workload.Key] = workload.Section;
        }

        foreach (var derived in plan.Derived)
        {
            sections[derived.Key] = derived.Section;
        }

        foreach (var probe in plan.Probes)
        {
            sections[probe.Key] = probe.Section;
        }

        return
        [
            .. rows.Where(row => sections.ContainsKey(row.Key))
                .GroupBy(row => sections[row.Key])
                .OrderBy(group => group.Key.Order)
                .Select(group => new ReportSection(group.Key, [.. group])),
        ];
    }

    private static ReportRow FromWorkload(Workload workload, LabResults results)
    {
        var (cell, subject) = workload.Key;
        var row = new ReportRow { Cell = cell, Subject = subject, Ours = workload.Ours, Baseline = workload.Section.Baseline };
        if (results.Samples(workload.Key) is not { } samples)
        {
            return row with { Dropped = results.Dropped.GetValueOrDefault(workload.Key, "not measured") };
        }

        var (gen0, gen1, gen2) = samples.CollectionsPerThousand;
        return row with
        {
            MedianNs = samples.MedianNanoseconds,
            MinNs = samples.MinimumNanoseconds,
            BytesPerOp = Known(samples.BytesPerOperation),
            Gen0 = Known(gen0),
            Gen1 = Known(gen1),
            Gen2 = Known(gen2),
            Ratio = row.Baseline is null || row.Baseline == subject
                ? null
                : results.Ratio(workload.Key, workload.Key with { Subject = row.Baseline }),
        };
    }

    /// <summary>The row; null for a step of probes that have no result: their own rows say why.</summary>
    private static ReportRow? FromDerived(DerivedRow derived, LabResults results)
    {
        var row =
            new ReportRow
            {
                Cell = derived.Key.Cell,
                Subject = derived.Key.Subject,
                Ours = derived.Ours,
                Baseline = derived.Section.Baseline,
            };
        string? baseline = row.Baseline == row.Subject ? null : row.Baseline;
        switch (derived)
        {
            case PhaseRow phase:
                return results.Samples(phase.Key) is not { } samples
                    ? row with { Dropped = results.Dropped.GetValueOrDefault(phase.Of, "not measured") }
                    : row with
                    {
                        MedianNs = samples.MedianNanoseconds,
                        MinNs = samples.MinimumNanoseconds,
                        Ratio = baseline is null ? null : results.Ratio(phase.Key, phase.Key with { Subject = baseline }),
                    };
            case MeanRow mean:
                WorkloadKey[] keys = [.. mean.Group.Cells.Select(cell => mean.Key with { Cell = cell })];
                return Array.Find(keys, key => !results.Has(key)) is { Cell: not null } missing
                    ? row with { Dropped = results.Dropped.GetValueOrDefault(missing, "not measured") }
                    : row with
                    {
                        MedianNs = GeometricMean(keys.Select(key => results.Samples(key)!.MedianNanoseconds)),
                        MinNs = GeometricMean(keys.Select(key => results.Samples(key)!.MinimumNanoseconds)),
                        Ratio = baseline is null ? null : results.MeanRatio([mean.Group], mean.Key.Subject, baseline),
                    };
            case StepRow step:
                return step.Select(results) is { Count: > 0 } metrics ? row with { Metrics = metrics } : null;
            default:
                throw new InvalidOperationException($"{derived.GetType().Name} has no row.");
        }
    }

    private static double GeometricMean(IEnumerable<double> values) => Math.Exp(values.Average(Math.Log));

    private static double? Known(double value) => double.IsNaN(value) ? null : value;

    private static ReportRow FromProbe(Probe probe, LabResults results)
    {
        var row = new ReportRow { Cell = probe.Key.Cell, Subject = probe.Key.Subject, Ours = probe.Ours };
        return results.Metrics(probe.Key) is { } metrics
            ? row with
            {
                Metrics = metrics.Where(metric => !StepRow.IsOfStep(metric.Key)).ToDictionary(metric => metric.Key, metric => metric.Value),
            }
            : row with { Dropped = results.Dropped.GetValueOrDefault(probe.Key, "not measured") };
    }
}
