using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>Which tables a run prints.</summary>
[Flags]
internal enum ReportTables
{
    /// <summary>None: the last screen alone.</summary>
    None = 0,

    /// <summary>What was measured.</summary>
    Results = 1,

    /// <summary>What the authors aim at, and whether it is met.</summary>
    Goals = 2,
}

/// <summary>Prints results as tables.</summary>
internal static class ConsoleReport
{
    private const int PlainWidth = 150;

    /// <summary>A console of the right width: a file or a pipe has none of its own.</summary>
    public static IAnsiConsole CreateConsole(TextWriter? output = null)
    {
        bool isTerminal = output is null && !Console.IsOutputRedirected;
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Out = new AnsiConsoleOutput(output ?? Console.Out),
            Ansi = isTerminal ? AnsiSupport.Detect : AnsiSupport.No,
            Interactive = isTerminal ? InteractionSupport.Detect : InteractionSupport.No,
        });
        if (!isTerminal)
        {
            console.Profile.Width = PlainWidth;
        }

        return console;
    }

    /// <summary>Prints the tables of every lab, then what the machine is.</summary>
    /// <param name="console">The terminal.</param>
    /// <param name="report">The run.</param>
    /// <param name="labs">Its results.</param>
    /// <param name="shows">Which tables are wanted.</param>
    public static void Print(IAnsiConsole console, LabReport report, IReadOnlyList<ReportLab> labs, ReportTables shows)
    {
        foreach (var (outcome, lab) in shows == ReportTables.None ? [] : report.Labs.Zip(labs))
        {
            bool isEmpty = lab.Rows.All(row => row.IsEmpty);
            if (isEmpty && report.Stopped)
            {
                continue;
            }

            console.WriteLine();
            console.Write(new Rule($"[bold]{Markup.Escape(lab.Name)}[/]: {Markup.Escape(outcome.Lab.Question)}").LeftJustified());
            if (isEmpty)
            {
                PrintReasons(console, lab, shows);
                continue;
            }

            if (shows.HasFlag(ReportTables.Results))
            {
                foreach (var section in ReportBuilder.Group(outcome.Plan, lab.Rows))
                {
                    ConsoleTables.Print(console, section);
                }
            }

            if (shows.HasFlag(ReportTables.Goals))
            {
                ConsoleTables.PrintVerdicts(console, lab);
            }
        }

        foreach (string hint in report.Labs.SelectMany(outcome => outcome.Plan.Hints))
        {
            console.WriteLine();
            console.MarkupLine($"[yellow]{Markup.Escape(hint)}[/]");
        }

        console.WriteLine();
        PrintMachine(console, report, shows);
    }

    /// <summary>Instead of the tables of a lab that could measure nothing: why.</summary>
    private static void PrintReasons(IAnsiConsole console, ReportLab lab, ReportTables shows)
    {
        foreach (string? reason in lab.Rows.Select(row => row.Dropped).Distinct())
        {
            console.MarkupLine($"[yellow]{NumberText.NotMeasured}[/]: {Markup.Escape(reason ?? "the run was stopped before it")}");
        }

        if (shows.HasFlag(ReportTables.Goals))
        {
            console.MarkupLine($"[bold]Goals of {Markup.Escape(lab.Name)}[/]: {Markup.Escape(Summarize(lab.Verdicts))}");
        }
    }

    /// <summary>One line: how many goals are met, and how many exact counts are right.</summary>
    public static string Summarize(IEnumerable<Verdict> verdicts)
    {
        var kinds = verdicts.ToLookup(verdict => verdict.Bar.Kind, verdict => verdict.Word);
        string goals = Count(kinds[BarKind.Ratio], "met", "missed", "undecided", NumberText.NotMeasured);
        string counts = Count(kinds[BarKind.Count], "PASS", "FAIL", NumberText.NotMeasured);
        return goals.Length == 0 ? $"exact counts: {counts}" : counts.Length == 0 ? goals : $"{goals}; exact counts: {counts}";

        static string Count(IEnumerable<string> words, params string[] order)
        {
            var found = words.CountBy(word => word).ToDictionary();
            return string.Join(", ", order.Where(found.ContainsKey).Select(word => $"{found[word]} {word}"));
        }
    }

    private static void PrintMachine(IAnsiConsole console, LabReport report, ReportTables shows)
    {
        var machine = report.Machine;
        console.MarkupLine(Markup.Escape(
            $"{machine.Processor}, {machine.Cores} cores, {machine.MemoryGiB} GiB; {machine.System}; {machine.Runtime}; "
                + $"{machine.Collector} collector; {report.Options.Mode.ToString().ToLowerInvariant()} run, seed {report.Options.Seed}"));
        if (shows.HasFlag(ReportTables.Results))
        {
            console.MarkupLine(NumberText.RatioWords);
        }
    }
}
