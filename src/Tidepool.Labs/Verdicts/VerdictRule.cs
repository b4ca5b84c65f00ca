using System.Globalization;

namespace Tidepool.Labs;

/// <summary>How one bar is judged from a lab's results.</summary>
internal abstract class VerdictRule(Bar bar)
{
    /// <summary>The bar.</summary>
    public Bar Bar => bar;

    /// <summary>The workloads or probes whose results it needs.</summary>
    public abstract IEnumerable<WorkloadKey> Needs { get; }

    /// <summary>Judges.</summary>
    public abstract Verdict Judge(LabResults results);

    /// <summary>What the bar compares; the detail of its verdict ends with the text of one of them, the worst.</summary>
    public virtual IEnumerable<Comparison> Comparisons => [];

    /// <summary>The workloads that need more rounds before the bar can be judged.</summary>
    public virtual IEnumerable<WorkloadKey> Undecided(LabResults results) => [];

    /// <summary>The rule for an interval: within the limit, beyond it, or neither.</summary>
    public static VerdictState Compare(double low, double high, double limit) =>
        high <= limit ? VerdictState.Pass : low > limit ? VerdictState.Fail : VerdictState.Unclear;

    /// <summary>The outcome of several comparisons that must all hold: one failure fails, one unclear leaves it unclear.</summary>
    public static VerdictState Combine(IReadOnlyCollection<VerdictState> states) =>
        states.Contains(VerdictState.NotRun) || states.Count == 0 ? VerdictState.NotRun
        : states.Contains(VerdictState.Fail) ? VerdictState.Fail
        : states.Contains(VerdictState.Unclear) ? VerdictState.Unclear
        : VerdictState.Pass;

    /// <summary>The verdict that says what is missing, and why.</summary>
    protected Verdict NotRun(LabResults results, WorkloadKey missing)
    {
        string why = results.Dropped.TryGetValue(missing, out string? reason) ? $": {reason}" : "";
        return new(bar, VerdictState.NotRun, null, $"no result of {missing.Subject}{why}");
    }

    /// <summary>Finds the first of the keys that has no number, and says so in a verdict; null when each has one.</summary>
    protected Verdict? FindMissing(LabResults results, IEnumerable<WorkloadKey> keys, Func<WorkloadKey, double?> read)
    {
        foreach (var key in keys)
        {
            if (read(key) is null)
            {
                return NotRun(results, key);
            }
        }

        return null;
    }

    /// <summary>A number with as many digits as a reader needs.</summary>
    protected static string Text(double value) => value.ToString(Math.Abs(value) < 10 ? "0.00" : "0.#", CultureInfo.InvariantCulture);
}

/// <summary>Times of one subject against those of another; of several pairs all must hold and the worst is shown.</summary>
internal sealed class RatioRule(Bar bar, params IReadOnlyList<(WorkloadKey Ours, WorkloadKey Other)> pairs) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => pairs.SelectMany(pair => new[] { pair.Ours, pair.Other }).Distinct();

    /// <inheritdoc/>
    public override IEnumerable<Comparison> Comparisons => pairs.Select(pair => Comparison.Of(pair.Ours, pair.Other));

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        var judged = new List<(VerdictState State, RatioEstimate Ratio, WorkloadKey Ours, WorkloadKey Other)>();
        foreach (var (ours, other) in pairs)
        {
            if (results.Ratio(ours, other) is not { } ratio)
            {
                return NotRun(results, results.Has(ours) ? other : ours);
            }

            judged.Add((Compare(ratio), ratio, ours, other));
        }

        var worst = judged.MaxBy(pair => pair.Ratio.Value);
        var state = Combine([.. judged.Select(pair => pair.State)]);
        return new(Bar, state, worst.Ratio.Value, Describe(judged.Count, worst.Ratio, Comparison.Of(worst.Ours, worst.Other)));
    }

    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Undecided(LabResults results)
    {
        foreach (var (ours, other) in pairs)
        {
            if (results.Ratio(ours, other) is { } ratio && Compare(ratio) == VerdictState.Unclear)
            {
                yield return ours;
                yield return other;
            }
        }
    }

    private VerdictState Compare(RatioEstimate ratio)
    {
        var state = Compare(ratio.Low, ratio.High, Bar.Limit);
        bool isVague = ratio.High - ratio.Low > Bar.Width && ratio.High > Bar.Limit - Bar.Width;
        return state == VerdictState.Pass && isVague ? VerdictState.Unclear : state;
    }

    private static string Describe(int count, RatioEstimate ratio, Comparison worst) =>
        $"{Text(ratio.Low)} .. {Text(ratio.High)}{(count > 1 ? $", worst of {count}" : "")}: {worst.Text}";
}

/// <summary>
/// How a time of one subject changes from one cell to another, against how that of another subject does, in the same rounds; of several
/// all must hold and the worst is shown.
/// </summary>
internal sealed class ScalingRule(
    Bar bar,
    params IReadOnlyList<((WorkloadKey Two, WorkloadKey One) Ours, (WorkloadKey Two, WorkloadKey One) Other)> pairs) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => pairs.SelectMany(KeysOf).Distinct();

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, Needs, key => results.Has(key) ? 0 : null) is { } missing)
        {
            return missing;
        }

        var judged = pairs.Select(pair => (Ratio: Estimate(results, pair), pair.Ours, pair.Other)).ToArray();
        var worst = judged.MaxBy(pair => pair.Ratio.Value);
        return new(
            Bar,
            Combine([.. judged.Select(pair => Compare(pair.Ratio.Low, pair.Ratio.High, Bar.Limit))]),
            worst.Ratio.Value,
            $"{Text(worst.Ratio.Low)} .. {Text(worst.Ratio.High)}, worst of {judged.Length}: {worst.Ours.Two.Subject}, "
                + $"{worst.Ours.Two.Cell.Describe()}, as {worst.Other.Two.Subject} does");
    }

    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Undecided(LabResults results) => pairs
        .Where(pair => KeysOf(pair).All(results.Has))
        .Where(pair => Estimate(results, pair) is var ratio && Compare(ratio.Low, ratio.High, Bar.Limit) == VerdictState.Unclear)
        .SelectMany(KeysOf);

    private static RatioEstimate Estimate(
        LabResults results, ((WorkloadKey Two, WorkloadKey One) Ours, (WorkloadKey Two, WorkloadKey One) Other) pair) =>
        results.Scaling(pair.Ours, pair.Other) ?? new(double.NaN, double.NegativeInfinity, double.PositiveInfinity);

    private static WorkloadKey[] KeysOf(((WorkloadKey Two, WorkloadKey One) Ours, (WorkloadKey Two, WorkloadKey One) Other) pair) =>
        [pair.Ours.Two, pair.Ours.One, pair.Other.Two, pair.Other.One];
}

/// <summary>A number, exactly; of several workloads or probes all must hold, and the worst is shown.</summary>
internal abstract class WorstRule(Bar bar, IReadOnlyList<WorkloadKey> keys) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => keys;

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, keys, key => Read(results, key)) is { } missing)
        {
            return missing;
        }

        var worst = keys.MaxBy(key => Badness(Read(results, key)!.Value));
        double value = Read(results, worst)!.Value;
        return new(Bar, Holds(value) ? VerdictState.Pass : VerdictState.Fail, value, Describe(value, keys.Count, worst));
    }

    /// <summary>The number of one of them; null when there is no result.</summary>
    protected abstract double? Read(LabResults results, WorkloadKey key);

    /// <summary>By what the worst is found. The highest, unless the rule says otherwise.</summary>
    protected virtual double Badness(double value) => value;

    /// <summary>Whether a number is good. At most the limit, unless the rule says otherwise.</summary>
    protected virtual bool Holds(double value) => value <= Bar.Limit;

    /// <summary>What is said of the worst.</summary>
    protected abstract string Describe(double value, int count, WorkloadKey worst);
}

/// <summary>Bytes allocated per operation.</summary>
internal sealed class BytesRule(Bar bar, params IReadOnlyList<WorkloadKey> keys) : WorstRule(bar, keys)
{
    /// <inheritdoc/>
    protected override double? Read(LabResults results, WorkloadKey key) => results.Has(key) ? results.BytesPerOperation(key) : null;

    /// <inheritdoc/>
    protected override string Describe(double value, int count, WorkloadKey worst) =>
        $"{Text(value)} B per operation, highest of {count}: {worst.Subject}, {worst.Cell.Describe()}";
}

/// <summary>A metric of a probe.</summary>
internal sealed class MetricRule(Bar bar, string metric, params IReadOnlyList<WorkloadKey> keys) : WorstRule(bar, keys)
{
    /// <inheritdoc/>
    protected override double? Read(LabResults results, WorkloadKey key) => results.Metric(key, metric);

    /// <inheritdoc/>
    protected override string Describe(double value, int count, WorkloadKey worst) =>
        $"{metric} {Text(value)}{(count > 1 ? $", highest of {count}" : "")}: {worst.Subject}";
}

/// <summary>A metric of a probe that must be the limit, neither more nor less.</summary>
internal sealed class EqualRule(Bar bar, string metric, params IReadOnlyList<WorkloadKey> keys) : WorstRule(bar, keys)
{
    /// <inheritdoc/>
    protected override double? Read(LabResults results, WorkloadKey key) => results.Metric(key, metric);

    /// <inheritdoc/>
    protected override double Badness(double value) => Math.Abs(value - Bar.Limit);

    /// <inheritdoc/>
    protected override bool Holds(double value) => value == Bar.Limit;

    /// <inheritdoc/>
    protected override string Describe(double value, int count, WorkloadKey worst) =>
        $"exactly {Text(Bar.Limit)} wanted, found {Text(value)}{(count > 1 ? $", worst of {count}" : "")}: {worst.Subject}";
}

/// <summary>A metric of ours, exactly, less the lowest of the rivals that are there.</summary>
internal sealed class NotAboveRule(
    Bar bar, string metric, IReadOnlyList<WorkloadKey> ours, IReadOnlyList<WorkloadKey> rivals)
    : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => ours.Concat(rivals);

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        WorkloadKey[] there = [.. rivals.Where(key => results.Metric(key, metric) is not null)];
        if (there.Length == 0)
        {
            return NotRun(results, rivals[0]);
        }

        if (FindMissing(results, ours, key => results.Metric(key, metric)) is { } missing)
        {
            return missing;
        }

        var worst = ours.MaxBy(key => results.Metric(key, metric));
        var best = there.MinBy(key => results.Metric(key, metric));
        double highest = results.Metric(worst, metric)!.Value;
        double lowest = results.Metric(best, metric)!.Value;
        double value = Math.Max(0, highest - lowest);
        var state = value <= Bar.Limit ? VerdictState.Pass : VerdictState.Fail;
        return new(Bar, state, value, $"{metric} {Text(highest)} of {worst.Subject}, {Text(lowest)} of {best.Subject}");
    }
}
