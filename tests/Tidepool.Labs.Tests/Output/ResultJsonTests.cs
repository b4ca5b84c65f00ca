using System.Text.Json.Nodes;

namespace Tidepool.Labs.Tests.Output;

public class ResultJsonTests
{
    private static readonly LabReport Report = FakeLab.Report();
    private static readonly ReportLab[] Labs = [.. Report.Labs.Select(ReportBuilder.Build)];
    private static readonly JsonObject Json = JsonNode.Parse(ResultJson.Write(Report, Labs))!.AsObject();

    [Fact]
    public void The_file_is_one_object_with_machine_and_labs() =>
        Assert.Equal(["schema", "time", "commit", "machine", "labs"], Keys(Json));

    [Fact]
    public void A_lab_has_its_keys() => Assert.Equal(["name", "processes", "rows", "verdicts"], Keys(Lab));

    [Fact]
    public void Every_row_has_all_keys()
    {
        string[] expected =
        [
            "cell", "subject", "ours", "medianNs", "minNs", "bytesPerOp", "gen0", "gen1", "gen2",
            "baseline", "ratio", "ratioLow", "ratioHigh", "metrics",
        ];

        Assert.All(Lab["rows"]!.AsArray(), row => Assert.Equal(expected, Keys(row!)));
    }

    [Fact]
    public void Every_verdict_has_all_keys() =>
        Assert.All(
            Lab["verdicts"]!.AsArray(),
            verdict => Assert.Equal(["id", "name", "state", "pass", "value", "limit", "detail"], Keys(verdict!)));

    [Fact]
    public void A_cell_holds_the_coordinates_with_their_types()
    {
        var cell = Row("Ours<T>")["cell"]!;

        Assert.Equal("byte", cell["type"]!.GetValue<string>());
        Assert.Equal(100, cell["length"]!.GetValue<int>());
    }

    [Fact]
    public void A_measured_row_has_numbers_and_its_ratio()
    {
        var row = Row("Ours<T>");

        Assert.True(row["ours"]!.GetValue<bool>());
        Assert.Equal(4.01, row["medianNs"]!.GetValue<double>(), 3);
        Assert.Equal("Rival<T>", row["baseline"]!.GetValue<string>());
        Assert.Equal(0.4, row["ratio"]!.GetValue<double>(), 2);
        Assert.True(row["ratioLow"]!.GetValue<double>() <= row["ratioHigh"]!.GetValue<double>());
    }

    [Fact]
    public void What_a_lab_cannot_fill_is_null()
    {
        var row = Row("Absent<T>");

        Assert.All(["medianNs", "minNs", "bytesPerOp", "gen0", "ratio"], (string key) => Assert.Null(row[key]));
    }

    [Fact]
    public void A_missing_subject_gives_not_run_and_no_pass()
    {
        var verdict = Lab["verdicts"]!.AsArray().Single(verdict => verdict!["id"]!.GetValue<string>() == "fake.absent")!;

        Assert.Equal("NOT RUN", verdict["state"]!.GetValue<string>());
        Assert.False(verdict["pass"]!.GetValue<bool>());
        Assert.Null(verdict["value"]);
    }

    [Fact]
    public void The_machine_is_described_and_no_host_is_named()
    {
        var machine = Json["machine"]!.AsObject();

        Assert.All(
            ["name", "processor", "cores", "memoryGiB", "system", "runtime", "collector", "mode", "seed", "rivals", "dropped"],
            (string key) => Assert.NotNull(machine[key]));
        Assert.Equal(7, machine["seed"]!.GetValue<int>());
        Assert.Equal("1.2.3", machine["rivals"]!["Rival"]!.GetValue<string>());
        Assert.Equal("Absent<T>", Assert.Single(machine["dropped"]!.AsArray())!["subject"]!.GetValue<string>());
        Assert.DoesNotContain(Environment.MachineName, machine["name"]!.GetValue<string>(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_that_is_read_back_is_the_same()
    {
        var read = ResultJson.Read(ResultJson.Write(Report, Labs)).Labs.Single();

        Assert.Equal(Labs[0].Rows.Select(row => row.Key), read.Rows.Select(row => row.Key));
        Assert.Equal(
            Labs[0].Verdicts.Select(verdict => (verdict.Bar.Id, verdict.StateText)),
            read.Verdicts.Select(verdict => (verdict.Bar.Id, verdict.StateText)));
        Assert.Equal(2.5, read.Rows.Single(row => row.Key == FakeLab.Held).Metrics["held_percent"]);
        Assert.Equal(0.4, read.Rows.Single(row => row.Key == FakeLab.Ours).Ratio!.Value.Value, 2);
    }

    private static JsonObject Lab => Json["labs"]![0]!.AsObject();

    private static JsonNode Row(string subject) =>
        Lab["rows"]!.AsArray().First(row => row!["subject"]!.GetValue<string>() == subject)!;

    private static string[] Keys(JsonNode node) => [.. node.AsObject().Select(pair => pair.Key)];
}
