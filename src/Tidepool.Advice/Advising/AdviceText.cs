using System.Globalization;
using Spectre.Console;

namespace Tidepool.Advice;

/// <summary>Prints a report for one screen of a terminal.</summary>
internal static class AdviceText
{
    /// <summary>What is said of a program without samples, whose runtime is known to sample.</summary>
    internal const string NothingSampled = "No allocation was sampled: there is nothing to pool, or the program was idle.";

    private const int MostSites = 8;
    private const int FewestSamples = 10;
    private const int VerdictWidth = 19;
    private const int MostOfType = 20;
    private const int Wide = 116;
    private const int Widest = 140;
    private const int WideRate = 31; // of "999 MB (999 MB to 9.99 GB)"
    private const string PoolWord = "POOL";

    /// <summary>
    /// Prints what was seen, what it cost, and the verdicts: a line for each, which one screen has with the rest of that (from 116
    /// columns on with intervals, from 140 on with sizes), and then the details, in full for those to pool.
    /// </summary>
    public static void Print(IAnsiConsole console, AdviceReport report)
    {
        foreach (string line in Header(report, console.Profile.Width))
        {
            console.WriteLine(line);
        }

        SiteAdvice[] shown = [.. report.Sites.Where(static advice => advice.Site.Samples >= FewestSamples).Take(MostSites)];
        if (shown.Length > 1)
        {
            PrintOverview(console, shown);
        }

        foreach (var advice in shown)
        {
            console.WriteLine();
            Print(console, advice, report.Sampling.ProcessorsOff);
        }

        int left = report.Sites.Count - shown.Length;
        if (left > 0)
        {
            console.WriteLine();
            console.WriteLine($"{left} more sites have fewer bytes or samples; --json FILE has all of them.");
        }

        PoolText.Print(console, report.Pools);
    }

    private static IEnumerable<string> Header(AdviceReport report, int width)
    {
        yield return $"{report.Target.Name} · {report.Target.Id} · allocates {Text(report.BytesPerSecond, Quantity.Bytes)}/s";
        if (report.Native is { } native)
        {
            foreach (string line in NativeText.Lines(report, native))
            {
                yield return line;
            }

            yield break;
        }

        string spent = report.Sampling.Cost is { } share ? Quantity.Percent(share) : "not known";
        yield return $"sampled {Seconds(report.Sampling.SampledSeconds)} of {Seconds(report.Sampling.Seconds)} s in "
            + $"{report.Sampling.Slices.Count} slices; cost {spent} of its processor time, budget {Quantity.Percent(report.Budget)}";
        if (report.Sampling is { Cost: { } cost, NamingSeconds: { } naming } && cost > report.Budget)
        {
            yield return $"over the budget: {Quantity.Time(naming * 1000)} of processor time went into naming its methods, once. "
                + "A longer --seconds spreads it.";
        }

        string reasons = report.Collections.Count == 0
            ? "none"
            : string.Join(", ", report.Collections.Select(static c => $"{c.Reason} {Quantity.Count(c.PerSecond)}/s"));
        yield return $"collections: {reasons}";
        foreach (string line in LifetimeText.Lines(report.Sampling))
        {
            yield return line;
        }

        if (report.Saving is { } saving)
        {
            string text = Saving.Text(saving, report.Sampling.ProcessorsOff);
            string sentence = $"pooling all of POOL saves {text}, as estimated; --verify measures it.";
            foreach (string line in Paragraph.Lines(sentence, width, "", "  "))
            {
                yield return line;
            }
        }

        if (report.LostEvents > 0)
        {
            yield return $"{report.LostEvents} events were lost.";
        }

        if (report.Sites.Count == 0)
        {
            yield return report.Target.Runtime.Length > 0
                ? NothingSampled
                : "No allocation was sampled: the program was idle, or its runtime, whose version is not known, is older than .NET "
                    + $"{Sampler.FirstRuntime} and samples nothing.";
        }
    }

    private static void PrintOverview(IAnsiConsole console, SiteAdvice[] shown)
    {
        console.WriteLine();
        bool isWide = console.Profile.Width >= Wide;
        int ofType = Math.Min(MostOfType, shown.Max(static advice => TypeRules.Short(advice.Site.Type).Length));
        foreach (SiteAdvice advice in shown)
        {
            AllocationSite site = advice.Site;
            WriteVerdict(console, advice.Verdict, advice.Kind is null ? VerdictWidth : 0);
            console.Write(advice.Kind is { } kind ? $" ({kind})".PadRight(VerdictWidth - PoolWord.Length) : "");
            string type = Cut(TypeRules.Short(site.Type), ofType).PadRight(ofType);
            string place = site.Line == 0 ? MethodOf(site.Method) : $"{MethodOf(site.Method)}:{site.Line}";
            string rate = isWide
                ? Text(site.BytesPerSecond, Quantity.Bytes).PadLeft(WideRate)
                : Quantity.Bytes(site.BytesPerSecond.Value).PadLeft(8);
            string size = console.Profile.Width >= Widest
                ? $"{Quantity.Bytes(site.Quantile(0.5)),9} to {Quantity.Bytes(site.Quantile(1)),-9}"
                : "";
            console.WriteLine(
                Cut($"  {type} {rate}/s {Quantity.Percent(site.Share),6} {size} {place}", console.Profile.Width - VerdictWidth));
        }
    }

    /// <summary>A method with its type alone: what follows the last dot but one outside of brackets.</summary>
    private static string MethodOf(string method)
    {
        int depth = 0;
        int dots = 0;
        for (int i = method.Length - 1; i > 0; i--)
        {
            depth += method[i] switch { ']' => 1, '[' => -1, _ => 0 };
            bool isDot = method[i] == '.' && depth == 0 && method[i - 1] != '.'; // a constructor's name begins with one
            dots += isDot ? 1 : 0;
            if (dots == 2)
            {
                return method[(i + 1)..];
            }
        }

        return method;
    }

    private static string Cut(string text, int width) => text.Length <= width ? text : $"{text[..Math.Max(0, width - 1)]}…";

    private static void WriteVerdict(IAnsiConsole console, Verdict verdict, int width)
    {
        (string text, Color color) = verdict switch
        {
            Verdict.Pool => (PoolWord, Color.Green),
            Verdict.DoNotPool => ("DO NOT POOL", Color.Blue),
            _ => ("NOT ENOUGH EVIDENCE", Color.Yellow),
        };
        console.Write(new Text(text.PadRight(width), new Style(color, decoration: Decoration.Bold)));
    }

    private static void Print(IAnsiConsole console, SiteAdvice advice, double? processors)
    {
        var site = advice.Site;
        WriteVerdict(console, advice.Verdict, 0);
        console.WriteLine(
            $"  {TypeRules.Short(site.Type)}  {Text(site.BytesPerSecond, Quantity.Bytes)}/s, {Quantity.Percent(site.Share)}, "
                + $"{site.Samples} samples");
        string place = site.File.Length == 0 ? "" : $"  {Path.GetFileName(site.File)}:{site.Line}";
        console.WriteLine($"  {site.Method}{place}");
        Paragraph.Write(console, advice.Reason);
        Paragraph.Write(
            console,
            $"sizes: half up to {Quantity.Bytes(site.Quantile(0.5))}, nine tenths up to {Quantity.Bytes(site.Quantile(0.9))}, "
                + $"largest {Quantity.Bytes(site.Quantile(1))}");
        if (site.Lifetime is { } lifetime)
        {
            Paragraph.Write(console, $"{LifetimeText.Line(lifetime)}{NativeText.Release(site)}");
        }

        if (advice.Verdict != Verdict.Pool)
        {
            return;
        }

        if (advice.Saving is { } saving)
        {
            Paragraph.Write(console, $"saves {Saving.Text(saving, processors)}, as estimated");
        }

        if (advice.Classes.Count > 0)
        {
            Paragraph.Write(console, $"classes of {advice.Kind}, in bytes: {string.Join(", ", advice.Classes)}");
        }

        Paragraph.WriteCode(console, "- ", advice.Before!);
        Paragraph.WriteCode(console, "+ ", advice.After!);
    }

    private static string Seconds(double seconds) => seconds.ToString("0.0", CultureInfo.InvariantCulture);

    private static string Text(Interval interval, Func<double, string> write) =>
        $"{write(interval.Value)} ({write(interval.Low)} to {write(interval.High)})";
}
