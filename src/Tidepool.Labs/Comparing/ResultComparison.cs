using System.Text.Json.Nodes;

namespace Tidepool.Labs;

/// <summary>
/// Two results side by side. Times of two runs differ by the state of the machine as well. A ratio to the baseline of the same
/// rounds does not, so the ratios are compared; rows without one are baselines or counts.
/// </summary>
internal sealed class ResultComparison
{
    private static readonly string[] Facts = ["processor", "cores", "system", "runtime", "collector", "mode"];

    private readonly List<ComparedRow> _rows = [];
    private readonly List<LoneRow> _lone = [];
    private readonly List<double> _baselineTimes = [];

    private ResultComparison(ResultFile a, ResultFile b)
    {
        A = a;
        B = b;
    }

    /// <summary>The first result.</summary>
    public ResultFile A { get; }

    /// <summary>The second result.</summary>
    public ResultFile B { get; }

    /// <summary>Rows with a ratio in both, in the order of the first.</summary>
    public IReadOnlyList<ComparedRow> Rows => _rows;

    /// <summary>Rows with a ratio in one, of labs that both have.</summary>
    public IReadOnlyList<LoneRow> LoneRows => _lone;

    /// <summary>Times of the baselines in the second result over those in the first: how alike the machine was.</summary>
    public IReadOnlyList<double> BaselineTimes => _baselineTimes;

    /// <summary>Labs of the first result that the second lacks.</summary>
    public IEnumerable<string> LabsOnlyInA => LabNames(A).Except(LabNames(B));

    /// <summary>Labs of the second result that the first lacks.</summary>
    public IEnumerable<string> LabsOnlyInB => LabNames(B).Except(LabNames(A));

    /// <summary>Compares.</summary>
    /// <param name="a">The first result.</param>
    /// <param name="b">The second result.</param>
    /// <param name="onlyOurs">Whether rows of rivals are left out.</param>
    public static ResultComparison Of(ResultFile a, ResultFile b, bool onlyOurs = false)
    {
        var comparison = new ResultComparison(a, b);
        foreach (var lab in a.Labs)
        {
            if (b.Labs.FirstOrDefault(other => other.Name == lab.Name) is { } other)
            {
                comparison.Add(lab, other, row => row.Ours || !onlyOurs);
            }
        }

        return comparison;
    }

    /// <summary>Rows whose whole interval lies above a limit.</summary>
    public IEnumerable<ComparedRow> Above(double limit) => _rows.Where(row => row.Change.Low > limit);

    /// <summary>Rows that one result calls faster than the baseline and the other slower.</summary>
    public IEnumerable<ComparedRow> Turned => _rows.Where(row => (row.A.Ratio!.Value.Word, row.B.Ratio!.Value.Word)
        is (RatioWord.Faster, RatioWord.Slower) or (RatioWord.Slower, RatioWord.Faster));

    /// <summary>What keeps the two from being runs of one kind on one machine, a sentence each.</summary>
    public IEnumerable<string> Differences()
    {
        foreach (string fact in Facts)
        {
            if (Fact(A, fact) is var first && Fact(B, fact) is var second && first != second)
            {
                yield return $"Other {fact}: {first} in A, {second} in B.";
            }
        }

        var rivals = B.Machine["rivals"] as JsonObject;
        foreach (var (name, version) in A.Machine["rivals"] as JsonObject ?? [])
        {
            if (rivals?[name] is { } other && version is not null && other.ToString() != version.ToString())
            {
                yield return $"Other version of {name}: {version} in A, {other} in B.";
            }
        }

        foreach (var (side, file) in new[] { (ResultSide.A, A), (ResultSide.B, B) })
        {
            if (Fact(file, "stopped") == "true")
            {
                yield return $"{side} was stopped before its end.";
            }
        }
    }

    /// <summary>One fact of a result's machine, as text.</summary>
    public static string Fact(ResultFile file, string name) => file.Machine[name]?.ToString() ?? "unknown";

    private void Add(ReportLab a, ReportLab b, Func<ReportRow, bool> isWanted)
    {
        var first = ByKey(a);
        var second = ByKey(b);
        foreach (var (key, row) in first)
        {
            var other = second.GetValueOrDefault(key);
            if (row.Baseline == row.Subject && row.MedianNs > 0 && other?.MedianNs > 0)
            {
                _baselineTimes.Add(other.MedianNs.Value / row.MedianNs.Value);
            }

            if (row.Ratio is null || !isWanted(row))
            {
                continue;
            }

            if (other?.Ratio is null)
            {
                _lone.Add(new(a.Name, key, ResultSide.B, Lack(other)));
            }
            else if (row.Baseline != other.Baseline)
            {
                _lone.Add(new(a.Name, key, ResultSide.B, $"there its baseline is {other.Baseline}, not {row.Baseline}"));
            }
            else
            {
                _rows.Add(new(a.Name, row, other));
            }
        }

        _lone.AddRange(
            from pair in second
            where pair.Value.Ratio is not null && isWanted(pair.Value)
            let other = first.GetValueOrDefault(pair.Key)
            where other?.Ratio is null
            select new LoneRow(a.Name, pair.Key, ResultSide.A, Lack(other)));
    }

    private static string Lack(ReportRow? row) => row is null ? "no such row" : row.IsEmpty ? "not measured" : "without a ratio";

    /// <summary>The rows by cell and subject; of two with the same, the one with times.</summary>
    private static Dictionary<WorkloadKey, ReportRow> ByKey(ReportLab lab) =>
        lab.Rows.GroupBy(row => row.Key).ToDictionary(rows => rows.Key, rows => rows.MaxBy(row => row.MedianNs is not null)!);

    private static IEnumerable<string> LabNames(ResultFile file) => file.Labs.Select(lab => lab.Name);
}
