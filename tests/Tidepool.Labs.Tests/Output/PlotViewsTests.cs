using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Output;

public class PlotViewsTests
{
    /// <summary>Runs the page's script on a page with one plot and returns the texts of each bar: its label and the pointer's.</summary>
    private const string Harness = """
        const page = JSON.parse(require('fs').readFileSync(0, 'utf8'));
        const drawn = [];
        const canvas = { clientWidth: 0, style: {} };
        const title = {};
        const panel = { querySelector: what => (what === 'h4' ? title : canvas) };
        const parentElement = {};
        const first = { value: 0, parentElement, add() {}, addEventListener() {} };
        const second = { value: '', parentElement, add() {}, addEventListener() {} };
        const figure = {
          dataset: { lab: 'fake' }, querySelector: what => (what === 'select.first' ? first : second),
          querySelectorAll: () => [panel], remove() {},
        };
        globalThis.addEventListener = () => {};
        globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
        globalThis.getComputedStyle = () => ({ fontFamily: 'serif', getPropertyValue: () => 'black' });
        globalThis.Option = class {};
        globalThis.document = {
          documentElement: {}, body: {}, getElementById: () => ({ textContent: page.views }), querySelectorAll: () => [figure],
        };
        globalThis.echarts = {
          format: { encodeHTML: text => text }, init: () => ({ dispose() {}, setOption: option => drawn.push(option) }),
        };
        globalThis.ResizeObserver = class {
          constructor(changed) { this.changed = changed; }
          observe() { for (const width of [400, 1000]) { canvas.clientWidth = width; this.changed(); } }
        };
        (0, eval)(page.script);
        console.log(JSON.stringify(drawn.map(option => option.series[0].data.map((_, dataIndex) =>
          [option.yAxis[1].data[dataIndex], option.tooltip.formatter({ dataIndex })]))));
        """;

    [Theory]
    [InlineData(4, 4, 4, "4.01 ns · 0.40×", "ratio 0.40")]
    [InlineData(30, 30, 30, "30.0 ns · 3.00×", "ratio 3.00")]
    [InlineData(10, 10, 10, "10.0 ns · no difference", "ratio no difference")]
    [InlineData(5, 10, 20, "10.0 ns · undecided", "ratio undecided, ")]
    public void A_bar_says_itself_how_it_compares(double first, double second, double third, string label, string detail)
    {
        JsonNode[] bars = [.. BarsOf(first, second, third)!];

        Assert.Equal(["10.0 ns · 1.00×", label], bars.Select(bar => (string?)bar["label"]));
        string[] details = [.. bars[1]["details"]!.AsArray().Select(line => (string)line!)];
        Assert.Equal(["time ", "min ", detail], details.Zip(["time ", "min ", detail], (line, start) => line[..start.Length]));
    }

    [Fact]
    public void A_bar_of_a_metric_has_its_amount_and_no_ratio()
    {
        var section = new Section { Title = "Memory", About = "Held.", Layout = SectionLayout.Metrics, Varies = ["after"] };
        var metrics = new Dictionary<string, double> { ["rss_MiB"] = 2048 };
        var row = new ReportRow { Cell = FakeLab.Held.Cell, Subject = "a", Ours = true, Metrics = metrics };

        var bar = PlotViews.Of([new ReportSection(section, [row, row with { Subject = "b" }])])[0]!["items"]![1]!;

        Assert.Equal("2.00 GiB", (string?)bar["label"]);
        Assert.Equal(["2.00 GiB"], bar["details"]!.AsArray().Select(line => (string?)line));
    }

    [Fact]
    public void A_loop_that_was_run_with_several_numbers_of_threads_has_lines_over_them()
    {
        ReportSection SectionOf(int threads, params int[] depths)
        {
            var section = new Section { Title = $"{threads} threads", About = "", Varies = ["depth"], Operation = "object" };
            return new ReportSection(section, [.. from depth in depths
                                                  from subject in (string[])["Ours<T>", "Rival<T>"]
                                                  let cell = Cell.Of(("depth", depth), ("threads", threads))
                                                  select new ReportRow
                                                  {
                                                      Cell = cell,
                                                      Subject = subject,
                                                      Ours = subject == "Ours<T>",
                                                      Metrics = new Dictionary<string, double>(),
                                                      TimeNs = (subject == "Ours<T>" ? 4.0 : 10) / threads,
                                                  }]);
        }

        JsonArray views = PlotViews.Of([SectionOf(16, 1), SectionOf(1, 1, 8), SectionOf(2, 1)]);

        JsonObject view = Assert.Single(views.Select(static view => view!.AsObject()), static view => (string?)view["kind"] == "lines");
        Assert.Equal("Scaling: depth 1", (string?)view["title"]); // depth 8 was run on one thread only
        Assert.Equal("threads", (string?)view["axis"]);
        Assert.Equal("time of one object", (string?)view["scale"]);
        Assert.Equal(["Ours<T>", "Rival<T>"], view["series"]!.AsArray().Select(static series => (string?)series!["name"]));
        Assert.Equal(
            [[1, 4.0], [2, 2.0], [16, 0.25]],
            view["series"]![0]!["points"]!.AsArray().Select(static point => (double[])[(int)point![0]!, (double)point[1]!]));
    }

    [NeedsNode]
    public void The_script_shows_the_texts_of_the_view_and_appends_nothing()
    {
        foreach (double[] times in (double[][])[[4, 4, 4], [10, 10, 10], [5, 10, 20]])
        {
            var report = FakeLab.Report(Results(times));
            string page = HtmlReport.Write(report, [.. report.Labs.Select(ReportBuilder.Build)], "");

            var drawn = Draw(page);

            string[][] expected = [.. BarsOf(times).Select(bar => (string[])[(string)bar!["label"]!, string.Join("<br>", TipOf(bar))])];
            Assert.Equal([expected, expected], drawn); // a narrow page and a wide one
        }

        static IEnumerable<string> TipOf(JsonNode bar) =>
            [$"<strong>{bar["name"]}</strong>", .. bar["details"]!.AsArray().Select(line => (string)line!)];
    }

    private static JsonArray BarsOf(params double[] ours)
    {
        var outcome = FakeLab.Report(Results(ours)).Labs.Single();
        var sections = ReportBuilder.Group(outcome.Plan, ReportBuilder.Build(outcome).Rows);
        return PlotViews.Of(sections)[0]!["items"]!.AsArray();
    }

    /// <summary>The rival takes 10 ns in each process; ours takes the times that are given.</summary>
    private static LabResults Results(params double[] ours)
    {
        var results = new LabResults(seed: 7);
        for (int process = 0; process < ours.Length; process++)
        {
            results.Add(FakeLab.Rival, process, 0, FakeLab.Samples(10, 0));
            results.Add(FakeLab.Ours, process, 0, FakeLab.Samples(ours[process], 0));
        }

        results.Drop(FakeLab.Absent, "not in this version");
        return results;
    }

    private static string[][][] Draw(string page)
    {
        string views = Between(page, "<script type=\"application/json\" id=\"views\">");
        string script = Between(page, "<script>\n");
        var start = new ProcessStartInfo("node", ["-e", Harness])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        process.StandardInput.Write(new JsonObject { ["views"] = views, ["script"] = script }.ToJsonString());
        process.StandardInput.Close();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, errors.Result);
        return JsonSerializer.Deserialize<string[][][]>(output)!;

        static string Between(string page, string begin)
        {
            int from = page.LastIndexOf(begin, StringComparison.Ordinal) + begin.Length;
            return page[from..page.IndexOf("</script>", from, StringComparison.Ordinal)];
        }
    }

    [AttributeUsage(AttributeTargets.Method)]
    [TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
    private sealed class NeedsNodeAttribute : FactAttribute, ITraitAttribute
    {
        public NeedsNodeAttribute() => Skip = PreloadPrograms.IsOnPath("node") ? null : "Needs node: apt-get install nodejs";
    }
}
