using System.Globalization;
using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>What the terminal shows of a comparison.</summary>
internal sealed record ComparisonOptions
{
    /// <summary>What the first result is called: its file.</summary>
    public required string NameA { get; init; }

    /// <summary>What the second result is called: its file.</summary>
    public required string NameB { get; init; }

    /// <summary>Whether both files have the same content.</summary>
    public bool IsSame { get; init; }

    /// <summary>Whether rows are shown that did not change or are undecided, and every missing row is named.</summary>
    public bool ShowAll { get; init; }

    /// <summary>The limit of --fail-above, or null.</summary>
    public double? FailAbove { get; init; }
}

/// <summary>Prints a comparison: what differs between the runs, the rows that changed, one sentence at the end.</summary>
internal static class ComparisonReport
{
    private const int NamedCells = 3;

    /// <summary>How the numbers are to be read.</summary>
    internal const string Reading =
        "A and B: time over that of the baseline, measured in the same rounds. B/A: the one over the other, with the widest interval "
            + "that the two intervals allow; below 1.00 is faster.";

    /// <summary>Prints it.</summary>
    public static void Print(IAnsiConsole console, ResultComparison comparison, ComparisonOptions options)
    {
        Write(console, $"A  {options.NameA}: {Describe(comparison.A)}");
        Write(console, $"B  {options.NameB}: {Describe(comparison.B)}");
        if (options.IsSame)
        {
            Write(console, "Both are the same result: nothing can differ.");
        }

        PrintDifferences(console, comparison);
        foreach (var (title, rows) in Sections(comparison, options))
        {
            PrintRows(console, title, rows);
        }

        PrintMissing(console, comparison, options);
        PrintSummary(console, comparison, options);
    }

    /// <summary>When and how a result was measured.</summary>
    internal static string Describe(ResultFile file)
    {
        string time = file.Time is { } known
            ? known.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)
            : ResultComparison.Fact(file, "measured");
        string commit = file.Commit is null ? "" : $", commit {BuildVersion.Shorten(file.Commit)}";
        return $"{time}, {ResultComparison.Fact(file, "mode")} run, Tidepool {ResultComparison.Fact(file, "tidepool")}{commit}";
    }

    private static void PrintDifferences(IAnsiConsole console, ResultComparison comparison)
    {
        string[] differences = [.. comparison.Differences()];
        if (differences.Length == 0)
        {
            Write(console, $"Same machine and mode: {ResultComparison.Fact(comparison.A, "processor")}, "
                + $"{ResultComparison.Fact(comparison.A, "cores")} cores, {ResultComparison.Fact(comparison.A, "runtime")}.");
            return;
        }

        console.MarkupLine("[yellow]Not runs of one kind on one machine; a change may come from that:[/]");
        foreach (string difference in differences)
        {
            Write(console, $"  {difference}");
        }
    }

    /// <summary>The rows by what became of them, those that matter most first.</summary>
    internal static IEnumerable<(string Title, IReadOnlyList<ComparedRow> Rows)> Sections(
        ResultComparison comparison, ComparisonOptions options)
    {
        ComparedRow[] above = options.FailAbove is { } limit ? [.. comparison.Above(limit)] : [];
        var words = comparison.Rows.Except(above).ToLookup(row => row.Change.Word);
        yield return ($"Above {options.FailAbove:0.00###} with the whole interval",
            [.. above.OrderByDescending(row => row.Change.Value)]);
        yield return ("Slower in B", [.. words[RatioWord.Slower].OrderByDescending(row => row.Change.Value)]);
        yield return ("Faster in B", [.. words[RatioWord.Faster].OrderBy(row => row.Change.Value)]);
        if (options.ShowAll)
        {
            yield return ("Undecided", [.. words[RatioWord.Undecided]]);
            yield return ("No difference", [.. words[RatioWord.NoDifference]]);
        }
    }

    private static void PrintRows(IAnsiConsole console, string title, IReadOnlyList<ComparedRow> rows)
    {
        if (rows.Count == 0)
        {
            return;
        }

        console.WriteLine();
        console.MarkupLine($"[bold]{Markup.Escape(title)}[/]: {Count(rows.Count)}");
        var table = new Table().Border(TableBorder.Simple).AddColumn("what");
        foreach (string heading in (string[])["A", "B", "B/A", "95 % interval"])
        {
            table.AddColumn(new TableColumn(heading).RightAligned().NoWrap());
        }

        foreach (var row in rows)
        {
            table.AddRow(
                $"{Markup.Escape(row.Lab)}: {Subject(row.A)}, {Markup.Escape(row.A.Cell.Describe())}",
                NumberText.Factor(row.A.Ratio!.Value.Value),
                NumberText.Factor(row.B.Ratio!.Value.Value),
                $"[{Color(row.Change.Word)}]{NumberText.Factor(row.Change.Value)}[/]",
                NumberText.Interval(row.Change));
        }

        console.Write(table);
    }

    private static void PrintMissing(IAnsiConsole console, ResultComparison comparison, ComparisonOptions options)
    {
        if (comparison.LoneRows.Count + comparison.LabsOnlyInA.Count() + comparison.LabsOnlyInB.Count() > 0)
        {
            console.WriteLine();
        }

        WriteLabs("B", comparison.LabsOnlyInA);
        WriteLabs("A", comparison.LabsOnlyInB);
        foreach (var rows in comparison.LoneRows.GroupBy(row => (row.Lacking, row.Lab, row.Key.Subject, row.Reason)))
        {
            string[] cells = [.. rows.Select(row => row.Key.Cell.Describe())];
            int named = options.ShowAll || cells.Length == NamedCells + 1 ? cells.Length : NamedCells;
            string more = cells.Length > named ? $"; {cells.Length - named} more (--all names them)" : "";
            var (side, lab, subject, reason) = rows.Key;
            Write(console, $"Missing in {side} ({reason}): {lab}: {subject}: {string.Join("; ", cells.Take(named))}{more}");
        }

        void WriteLabs(string side, IEnumerable<string> labs)
        {
            if (labs.Any())
            {
                Write(console, $"Missing in {side}, the whole lab: {string.Join(", ", labs)}");
            }
        }
    }

    private static void PrintSummary(IAnsiConsole console, ResultComparison comparison, ComparisonOptions options)
    {
        console.WriteLine();
        Write(console, Reading);
        if (comparison.BaselineTimes is { Count: > 0 } times)
        {
            Write(console, $"The baselines' own times in B are {NumberText.Factor(times.Min())} .. {NumberText.Factor(times.Max())} of "
                + "those in A.");
        }

        Write(console, DescribeWords("A", comparison.Rows.Select(row => row.A)));
        Write(console, DescribeWords("B", comparison.Rows.Select(row => row.B)));
        string[] turned =
            [.. comparison.Turned.Select(row => $"{row.Lab}: {row.A.Subject}, {row.A.Cell.Describe()}")];
        Write(console, turned.Length == 0
            ? "No row is faster than its baseline in one and slower in the other."
            : $"Faster than the baseline in one and slower in the other, {Count(turned.Length)}: {string.Join("; ", turned)}");
        console.MarkupLine($"[bold]{Markup.Escape(Summarize(comparison))}[/]");
        if (options.FailAbove is { } limit)
        {
            int above = comparison.Above(limit).Count();
            string text = above == 0 ? "No row lies" : above == 1 ? "1 row lies" : $"{above} rows lie";
            console.MarkupLine(string.Create(
                CultureInfo.InvariantCulture,
                $"[{(above == 0 ? "green" : "red")}]{text} above {limit:0.00###} with the whole interval.[/]"));
        }
    }

    /// <summary>How many rows became slower and faster.</summary>
    internal static string Summarize(ResultComparison comparison)
    {
        var words = comparison.Rows.ToLookup(row => row.Change.Word);
        return $"{Count(comparison.Rows.Count)} in both: {words[RatioWord.Slower].Count()} slower in B, "
            + $"{words[RatioWord.Faster].Count()} faster, {words[RatioWord.NoDifference].Count()} without difference, "
            + $"{words[RatioWord.Undecided].Count()} undecided.";
    }

    /// <summary>How many rows of one result are faster and slower than their baselines.</summary>
    internal static string DescribeWords(string side, IEnumerable<ReportRow> rows)
    {
        var words = rows.ToLookup(row => row.Ratio!.Value.Word);
        int undecided = words[RatioWord.Undecided].Count();
        int all = words.Sum(word => word.Count());
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{side} beside the baselines: {words[RatioWord.Faster].Count()} faster, {words[RatioWord.Slower].Count()} slower, "
                + $"{words[RatioWord.NoDifference].Count()} without difference, "
                + $"{undecided} undecided ({100.0 * undecided / Math.Max(1, all):0} %).");
    }

    /// <summary>A number of rows in words.</summary>
    internal static string Count(int rows) => rows == 1 ? "1 row" : $"{rows} rows";

    private static void Write(IAnsiConsole console, string line) => console.MarkupLine(Markup.Escape(line));

    private static string Subject(ReportRow row) => row.Ours ? $"[bold cyan]{Markup.Escape(row.Subject)}[/]" : Markup.Escape(row.Subject);

    private static string Color(RatioWord word) => word switch
    {
        RatioWord.Faster => "green",
        RatioWord.Slower => "red",
        _ => "default",
    };
}
