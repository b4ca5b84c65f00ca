using System.Globalization;
using System.Xml.Linq;

namespace Tidepool.Labs.Tests.Docs;

public class GeneratedDocsTests
{
    [Fact]
    public void The_tables_of_the_docs_equal_the_committed_results() =>
        Assert.All(GeneratedDocs.Render(Repository.Root), file => Assert.True(
            File.ReadAllText(file.Path) == file.Text,
            $"{Path.GetRelativePath(Repository.Root, file.Path)} differs from docs/results; 'tidepool docs' makes it again."));

    [Fact]
    public void Every_lab_is_in_the_list_of_labs()
    {
        string list = File.ReadAllText(Path.Combine(Repository.Root, "docs", "labs", "README.md"));

        Assert.All(LabCatalog.All, lab => Assert.Contains($"[{lab.Name}]({lab.Name}.md)", list, StringComparison.Ordinal));
    }

    [Fact]
    public void Committed_results_name_the_machine_of_their_folder() =>
        Assert.All(ResultFolder.Read(Repository.Root), machine => Assert.All(
            machine.Labs.Values, result => Assert.Equal(machine.Machine, result.File.Machine["name"]!.GetValue<string>())));

    [Fact]
    public void A_generated_part_is_replaced_and_the_rest_stays()
    {
        string text = "before\n<!-- generated:x -->\nold\n<!-- /generated -->\nafter\n";

        Assert.Equal("before\n<!-- generated:x -->\nnew\n<!-- /generated -->\nafter\n", GeneratedDocs.Replace(text, "x", "new\n"));
    }

    [Fact]
    public void A_missing_marker_is_an_error() =>
        Assert.Throws<InvalidDataException>(() => GeneratedDocs.Replace("nothing here", "x", "new\n"));

    [Fact]
    public void The_table_of_all_labs_has_a_line_for_each_part_with_its_best_and_worst_ratio()
    {
        string table = DocTables.Ratios([ArraysMachine()]);

        Assert.Contains(
            "| [arrays](arrays.md) | One buffer at a time | "
                + "`ArrayPool<T>.Shared` | `BufferLease<T>` | 2 | 0.40 .. 0.80 |", table, StringComparison.Ordinal);
    }

    [Fact]
    public void The_readme_has_the_same_ratios_as_a_table_and_as_a_plot()
    {
        var machine = ArraysMachine();

        Assert.Contains(
            "| [One buffer, one thread](docs/labs/arrays.md) | `ArrayPool<T>.Shared` | `BufferLease<T>` | 0.40 .. 0.80 |",
            DocTables.Readme([machine]),
            StringComparison.Ordinal);
        var plot = XDocument.Parse(RatioPlot.Draw([machine])).Root!.Elements().ToList();
        Assert.Contains(plot, element => element.Value == "0.40 .. 0.80");
        var bar = plot.Single(element => (string?)element.Attribute("class") == "bar");
        double PlaceOf(string ratio) =>
            Number(plot.Single(element => (string?)element.Attribute("class") == "tick" && element.Value == ratio), "x");
        double octave = PlaceOf("1") - PlaceOf("0.5");
        Assert.Equal(PlaceOf("1") + (Math.Log2(0.4) * octave), Number(bar, "x"), tolerance: 1);
        Assert.Equal(octave, Number(bar, "width"), tolerance: 1);
    }

    [Fact]
    public void The_readme_shows_five_parts_that_were_measured() =>
        Assert.Equal(5, RatioSpan.ForReadme(ResultFolder.Read(Repository.Root)[0]).Count);

    [Fact]
    public void Published_rows_stand_beside_todays()
    {
        string table = DocTables.Published(LabCatalog.Find("arrays")!, [FakeRun.MachineOf(FakeRun.OfArrays())]);

        Assert.Contains(
            "| byte | 100 | 32.5 ns | 10.0 ns | 30.8 ns (0.95) | - | 44.8 ns (1.37) | - | - | 0.40 |",
            table,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Published_rows_with_two_times_stand_beside_todays_of_both_and_of_ours()
    {
        var results = new LabResults(seed: 1);
        var cell = NativeGrid.Point(NativeGrid.Bulk, 64, 1);
        foreach (var (subject, time) in new[] { ("std::vector", 40.0), ("mutex-pool", 20.0), ("tidepool .so", 5.0) })
        {
            results.Add(new(cell, subject), 0, 0, [Sample.OfTime(time)]);
        }

        var lab = LabCatalog.Find("native")!;
        var plan = LabPlan.Of(lab, LabMode.Full);
        var report = new LabReport(
            MachineInfo.OfThisMachine(),
            new LabRunOptions { Child = new ChildCommand("none", []) },
            [new LabOutcome(lab, plan, results, 1, [])],
            Stopped: false);
        string table = DocTables.Published(lab, [FakeRun.MachineOf(report)]);

        Assert.Contains(
            "| 64 | 85.2 ms | 34.1 ms | 0.40 | 40.0 ns | 20.0 ns | 0.50 | 5.00 ns | 0.13 | - | - |",
            table,
            StringComparison.Ordinal);
    }

    private static double Number(XElement element, string attribute) =>
        double.Parse(element.Attribute(attribute)!.Value, CultureInfo.InvariantCulture);

    private static MachineResults ArraysMachine() => FakeRun.MachineOf(FakeRun.OfArrays(leaseAtCallSites: 8));
}
