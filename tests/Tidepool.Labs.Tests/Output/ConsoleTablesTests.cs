using Spectre.Console;
using Tidepool.Labs.Tests.Pages;

namespace Tidepool.Labs.Tests.Output;

/// <summary>The tables of the committed results, as terminals of several widths show them.</summary>
public class ConsoleTablesTests
{
    [Theory]
    [InlineData(80)]
    [InlineData(100)]
    [InlineData(120)]
    [InlineData(200)]
    public void Every_name_stands_on_the_line_with_its_own_numbers(int width)
    {
        foreach (ReportSection section in Sections())
        {
            string[] lines = Print(section, width);
            Assert.All(lines, line => Assert.InRange(line.Length, 0, width));
            if (section.Section.Layout == SectionLayout.Matrix)
            {
                continue;
            }

            // Each table of the section has a line for each row, in the same order.
            ReportRow[] rows = [.. section.Cells.SelectMany(cell => cell)];
            var headings = section.Cells.Select(cell => $"  {section.Label(cell.Key)}").ToHashSet();
            string[] named = [.. lines.Where(line => !headings.Contains(line) && rows.Any(row => Begins(line, row.Subject)))];
            Assert.True(named.Length > 0 && named.Length % rows.Length == 0, $"{section.Section.Title}\n{string.Join('\n', lines)}");
            foreach (var (place, line) in named.Index())
            {
                ReportRow row = rows[place % rows.Length];
                Assert.True(Begins(line, row.Subject), $"{row.Subject}: {line}");
                string numbers = line[(2 + row.Subject.Length)..].Trim();
                Assert.All(numbers.Split("  ", StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries), text =>
                    Assert.Contains(text, TextsOf(row)));
            }
        }
    }

    [Theory]
    [InlineData(80)]
    [InlineData(150)]
    public void Every_cell_of_a_matrix_is_one_line_in_each_of_its_tables(int width)
    {
        foreach (ReportSection section in Sections().Where(section => section.Section.Layout == SectionLayout.Matrix))
        {
            string[] lines = Print(section, width);
            foreach (var cell in section.Cells)
            {
                string label = section.Label(cell.Key);
                string time = NumberText.Time(cell.FirstOrDefault(row => row.Subject == section.Section.Baseline)?.TimeNs);
                string[] own = [.. lines.Where(line => Begins(line, label))];
                Assert.NotEmpty(own);
                Assert.All(own, line => Assert.StartsWith(time, line[(2 + label.Length)..].TrimStart(), StringComparison.Ordinal));
            }
        }
    }

    [Fact]
    public void Goals_have_a_line_each_on_a_narrow_terminal()
    {
        var (_, labs) = CommittedRun.Read();
        foreach (ReportLab lab in labs)
        {
            using var output = new StringWriter { NewLine = "\n" };
            IAnsiConsole console = ConsoleReport.CreateConsole(output);
            console.Profile.Width = 80;
            ConsoleTables.PrintVerdicts(console, lab);
            string[] lines = output.ToString().Split('\n');
            Assert.All(lines, line => Assert.InRange(line.Length, 0, 80));
            Assert.All(lab.Verdicts, verdict => Assert.Contains(
                lines, line => line.StartsWith($"  {verdict.Word} {verdict.Bar.Id} ", StringComparison.Ordinal)));
        }
    }

    private static bool Begins(string line, string name) =>
        line.StartsWith($"  {name}  ", StringComparison.Ordinal) || line.TrimEnd() == $"  {name}";

    private static IEnumerable<ReportSection> Sections()
    {
        var (report, labs) = CommittedRun.Read();
        return report.Labs.Zip(labs).SelectMany(pair => ReportBuilder.Group(pair.First.Plan, pair.Second.Rows));
    }

    private static string[] Print(ReportSection section, int width)
    {
        using var output = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        console.Profile.Width = width;
        ConsoleTables.Print(console, section);
        return output.ToString().Split('\n');
    }

    private static HashSet<string> TextsOf(ReportRow row) =>
    [
        NumberText.NotMeasured, NumberText.None, "1.00",
        NumberText.Time(row.TimeNs), NumberText.Time(row.MinNs), NumberText.ShortRatio(row.Ratio), NumberText.Interval(row.Ratio),
        NumberText.Bytes(row.BytesPerOp), NumberText.Collections(row),
        .. row.Metrics.Select(metric => NumberText.Metric(metric.Key, metric.Value)),
    ];
}
