using System.Globalization;
using Spectre.Console;

namespace Tidepool.Advice;

/// <summary>Prints a comparison of two reports for a terminal of 80 columns.</summary>
internal static class AdviceDiffText
{
    private const int MostSites = 20;

    /// <summary>Prints both runs, the sites that changed and the limits.</summary>
    /// <param name="console">Where to.</param>
    /// <param name="diff">The comparison.</param>
    /// <param name="names">How the two files are called.</param>
    /// <param name="limits">The limits with what was found.</param>
    public static void Print(IAnsiConsole console, AdviceDiff diff, (string Before, string After) names, IReadOnlyList<LimitResult> limits)
    {
        console.WriteLine($"before: {names.Before}: {Describe(diff.Before)}");
        console.WriteLine($"now:    {names.After}: {Describe(diff.After)}");
        console.WriteLine("A difference counts where the whole 95 % intervals are apart.");
        foreach (string note in diff.Notes)
        {
            console.Write(new Text(note + "\n", new Style(Color.Yellow)));
        }

        console.WriteLine();
        console.WriteLine(Row("", "before", "now", "change", ""));
        console.WriteLine(RowOf("allocated/s", diff.Bytes, Quantity.Bytes));
        if (diff.Before.Process.Runtime != NativeReport.Runtime || diff.After.Process.Runtime != NativeReport.Runtime)
        {
            console.WriteLine(RowOf("collections/s", diff.Collections, Quantity.Count));
        }

        PrintSites(console, diff);
        foreach (PoolChange pool in diff.Pools)
        {
            console.WriteLine(
                $"pool {pool.Name} ({pool.Kind}): {Word(pool.Before)} before, {Word(pool.After)} now");
        }

        PrintLimits(console, limits);
    }

    /// <summary>A change as a percentage with its interval, or that it is new.</summary>
    internal static string ChangeOf(RateChange change)
    {
        if (change.Ratio is { } ratio)
        {
            return $"{Quantity.Change(ratio.Value)} ({Quantity.Change(ratio.Low)} to {Quantity.Change(ratio.High)})";
        }

        return change.After.Value == 0 ? "none" : "new";
    }

    /// <summary>A word of a comparison.</summary>
    internal static string Word(ChangeWord word) => word switch
    {
        ChangeWord.Grew => "grew",
        ChangeWord.Shrank => "shrank",
        ChangeWord.Came => "came",
        ChangeWord.Went => "went",
        _ => "no difference",
    };

    private static void PrintSites(IAnsiConsole console, AdviceDiff diff)
    {
        SiteChange[] changed = [.. diff.Sites.Where(static site => site.Bytes.Word != ChangeWord.NoDifference)];
        foreach (SiteChange site in changed.Take(MostSites))
        {
            console.WriteLine();
            Print(console, site);
        }

        console.WriteLine();
        if (changed.Length > MostSites)
        {
            console.WriteLine($"{changed.Length - MostSites} more sites changed; --json FILE has all of them.");
        }

        int same = diff.Sites.Count - changed.Length;
        console.WriteLine(same == 1 ? "1 site has no difference." : $"{same} sites have no difference.");
    }

    private static void Print(IAnsiConsole console, SiteChange change)
    {
        FileSite site = change.Site;
        bool isMore = change.Bytes.Word is ChangeWord.Grew or ChangeWord.Came;
        string word = Word(change.Bytes.Word).ToUpperInvariant();
        console.Write(new Text(word, new Style(isMore ? Color.Red : Color.Green, decoration: Decoration.Bold)));
        string ratio = change.Bytes.Ratio is null || change.After is null ? "" : $"  {ChangeOf(change.Bytes)}";
        console.WriteLine($"  {TypeRules.Short(site.Type)}{ratio}");
        console.WriteLine($"  {site.Method}{(site.File.Length == 0 ? "" : $"  {Path.GetFileName(site.File)}:{site.Line}")}");
        string[] rates =
        [
            .. change.Before is null ? (string[])[] : [$"{Rate(change.Bytes.Before)} before"],
            .. change.After is null ? (string[])[] : [$"{Rate(change.Bytes.After)} now"],
        ];
        console.WriteLine($"  {string.Join(", ", rates)}");
        if (change.After is { } now)
        {
            string was = change.Before is { } old && old.Verdict != now.Verdict ? $", {Word(old.Verdict)} before" : "";
            console.WriteLine($"  verdict: {Word(now.Verdict)}{was}");
        }
    }

    private static void PrintLimits(IAnsiConsole console, IReadOnlyList<LimitResult> limits)
    {
        if (limits.Count > 0)
        {
            console.WriteLine();
        }

        int widest = limits.Select(static result => result.Limit.Text.Length).DefaultIfEmpty().Max();
        foreach (LimitResult result in limits)
        {
            (string word, Color color) = result.State switch
            {
                LimitState.Exceeded => ("EXCEEDED", Color.Red),
                LimitState.NotDecided => ("NOT DECIDED", Color.Yellow),
                _ => ("HELD", Color.Green),
            };
            console.Write($"{result.Limit.Text.PadRight(widest)}  ");
            console.Write(new Text(word.PadRight(11), new Style(color, decoration: Decoration.Bold)));
            console.WriteLine($"  {result.Found}");
        }
    }

    private static string Describe(AdviceFile file)
    {
        string runtime = file.Process.Runtime switch
        {
            "" => "",
            NativeReport.Runtime => $", {NativeReport.Runtime}",
            var version => $", .NET {version}",
        };
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{file.Process.Name}{runtime}, sampled {file.Window.SampledSeconds:0.0} of {file.Window.Seconds:0.0} s");
    }

    private static string RowOf(string name, RateChange change, Func<double, string> write) =>
        Row(name, write(change.Before.Value), write(change.After.Value), ChangeOf(change), Word(change.Word));

    private static string Row(string name, string before, string after, string change, string word) =>
        $"{name,-14}{before,10}{after,10}  {change,-28} {word}".TrimEnd();

    private static string Rate(Interval bytes) =>
        $"{Quantity.Bytes(bytes.Value)}/s ({Quantity.Bytes(bytes.Low)} to {Quantity.Bytes(bytes.High)})";

    private static string Word(Verdict verdict) => verdict switch
    {
        Verdict.Pool => "pool",
        Verdict.DoNotPool => "do not pool",
        _ => "not enough evidence",
    };

    private static string Word(PoolVerdict? verdict) => verdict switch
    {
        PoolVerdict.Fault => "fault",
        PoolVerdict.Suspect => "suspect",
        PoolVerdict.Change => "change",
        PoolVerdict.Keep => "keep",
        PoolVerdict.NotEnoughEvidence => "not enough evidence",
        _ => "not there",
    };
}
