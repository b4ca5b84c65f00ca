using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>Prints the last screen of a run: an answer of each lab, and where to look further.</summary>
internal static class ConsoleAnswers
{
    private static readonly int LongestName = LabCatalog.All.Max(static lab => lab.Name.Length);

    /// <summary>Prints one line or two for each lab that was run.</summary>
    public static void Print(IAnsiConsole console, LabReport report, IReadOnlyList<ReportLab> labs)
    {
        console.Write(new Rule("[bold]Does a pool pay on this machine?[/]").LeftJustified());
        Grid grid = CreateGrid();
        foreach (var (outcome, lab) in report.Labs.Zip(labs))
        {
            if (report.Stopped && lab.Rows.All(row => row.IsEmpty))
            {
                continue;
            }

            AddRow(grid, lab.Name, Answers.Of(outcome.Lab, outcome.Plan, lab));
            foreach (Verdict wrong in Answers.WrongCounts(lab))
            {
                string value = NumberText.Value(wrong.Bar, wrong.Value);
                grid.AddRow("", $"[red]Wrong count[/]: {Markup.Escape($"{wrong.Bar.Name}; it is {value} ({wrong.Bar.Id}).")}");
            }
        }

        console.Write(grid);
        console.WriteLine("0.50 is half the time. undecided: the interval is too wide to say.");
    }

    /// <summary>Prints the answer of a lab whose times are taken; nothing where no times were compared.</summary>
    public static void PrintEarly(IAnsiConsole console, LabOutcome measured)
    {
        LabAnswer answer = Answers.Of(measured.Lab, measured.Plan, ReportBuilder.Build(measured));
        if (answer.Groups.Count > 0)
        {
            Grid grid = CreateGrid();
            AddRow(grid, measured.Lab.Name, answer);
            console.Write(grid);
        }
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

    private static Grid CreateGrid() =>
        new Grid().AddColumn(new GridColumn().NoWrap().Width(LongestName).PadRight(2)).AddColumn(new GridColumn().PadRight(0));

    private static void AddRow(Grid grid, string lab, LabAnswer answer)
    {
        string sentence = string.Concat(
            answer.Pieces().Select(piece => piece.IsName ? $"[cyan]{Markup.Escape(piece.Text)}[/]" : Markup.Escape(piece.Text)));
        grid.AddRow($"[bold]{Markup.Escape(lab)}[/]", $"[bold {Color(answer.Word)}]{answer.Lead}.[/] {sentence}");
    }

    private static string Color(AnswerWord word) => word switch
    {
        AnswerWord.Pays or AnswerWord.PaysMostly => "green",
        AnswerWord.DoesNotPay => "red",
        AnswerWord.NotMeasured or AnswerWord.Counted => "grey",
        _ => "yellow",
    };
}
