using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>Prints the last screen of a run: a sentence for each lab, and where to look further.</summary>
internal static class ConsoleAnswers
{
    /// <summary>Prints one line or two for each lab that was run.</summary>
    public static void Print(IAnsiConsole console, LabReport report, IReadOnlyList<ReportLab> labs)
    {
        console.Write(new Rule("[bold]Does a pool pay on this machine?[/]").LeftJustified());
        var grid = new Grid().AddColumn(new GridColumn().NoWrap().PadRight(2)).AddColumn(new GridColumn().PadRight(0));
        foreach (var (outcome, lab) in report.Labs.Zip(labs))
        {
            if (report.Stopped && lab.Rows.All(row => row.IsEmpty))
            {
                continue;
            }

            grid.AddRow($"[bold]{Markup.Escape(lab.Name)}[/]", Markup.Escape(Answers.Of(outcome, lab)));
            foreach (Verdict wrong in Answers.WrongCounts(lab))
            {
                string value = NumberText.Value(wrong.Bar, wrong.Value);
                grid.AddRow("", $"[red]Wrong count[/]: {Markup.Escape($"{wrong.Bar.Name}; it is {value} ({wrong.Bar.Id}).")}");
            }
        }

        console.Write(grid);
        console.WriteLine();
        console.WriteLine("0.50 is half the time. undecided: the interval is too wide to say.");
    }

    /// <summary>Prints which commands show more.</summary>
    /// <param name="console">The terminal.</param>
    /// <param name="hasTables">Whether the tables stand above.</param>
    /// <param name="lab">A lab to name in the example.</param>
    public static void PrintWays(IAnsiConsole console, bool hasTables, string lab)
    {
        if (!hasTables)
        {
            console.WriteLine($"Tables: ./tidepool lab {lab}, or --tables. A page with plots: --html FILE");
        }
    }
}
