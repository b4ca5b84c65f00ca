using System.Text.Json;
using System.Text.Json.Nodes;

namespace Tidepool.Labs;

/// <summary>A result file that was read back.</summary>
internal sealed record ResultFile(JsonObject Machine, IReadOnlyList<ReportLab> Labs);

/// <summary>Writes and reads result files: <c>{"machine":{...},"labs":[...]}</c>.</summary>
internal static class ResultJson
{
    private static readonly JsonSerializerOptions Layout = new() { WriteIndented = true, NewLine = "\n" };

    /// <summary>The file's text.</summary>
    public static string Write(LabReport report, IReadOnlyList<ReportLab> labs) =>
        ToJson(report, labs).ToJsonString(Layout) + "\n";

    /// <summary>The file's content.</summary>
    public static JsonObject ToJson(LabReport report, IReadOnlyList<ReportLab> labs) => new()
    {
        ["machine"] = MachineOf(report, labs),
        ["labs"] = new JsonArray([.. labs.Select(LabOf)]),
    };

    /// <summary>Reads a file.</summary>
    /// <exception cref="JsonException">It is no result file.</exception>
    public static ResultFile Read(string text)
    {
        var root = JsonNode.Parse(text)?.AsObject() ?? throw new JsonException("The result file is empty.");
        return new(root["machine"]!.AsObject(), [.. root["labs"]!.AsArray().Select(lab => ReadLab(lab!.AsObject()))]);
    }

    private static JsonObject MachineOf(LabReport report, IReadOnlyList<ReportLab> labs)
    {
        var machine = JsonSerializer.SerializeToNode(report.Machine, JsonSerializerOptions.Web)!.AsObject();
        machine["measured"] = DateTime.UtcNow.ToString("yyyy-MM-dd", System.Globalization.CultureInfo.InvariantCulture);
        machine["mode"] = report.Options.Mode == LabMode.Full ? "full" : "quick";
        machine["seed"] = report.Options.Seed;
        machine["stopped"] = report.Stopped;
        machine["tidepool"] = RivalVersion.Of(typeof(BufferPool<>));
        var rivals = new JsonObject();
        foreach (var (name, version) in report.Labs.SelectMany(lab => lab.Plan.Rivals).DistinctBy(rival => rival.Key))
        {
            rivals[name] = version;
        }

        machine["rivals"] = rivals;
        machine["dropped"] = new JsonArray(
        [
            .. from lab in labs
               from row in lab.Rows
               where row.Dropped is not null
               select new JsonObject
               {
                   ["lab"] = lab.Name,
                   ["cell"] = CellOf(row.Cell),
                   ["subject"] = row.Subject,
                   ["reason"] = row.Dropped,
               },
        ]);
        return machine;
    }

    private static JsonObject LabOf(ReportLab lab) => new()
    {
        ["name"] = lab.Name,
        ["processes"] = lab.Processes,
        ["rows"] = new JsonArray([.. lab.Rows.Select(RowOf)]),
        ["verdicts"] = new JsonArray([.. lab.Verdicts.Select(VerdictOf)]),
    };

    private static JsonObject RowOf(ReportRow row) => new()
    {
        ["cell"] = CellOf(row.Cell),
        ["subject"] = row.Subject,
        ["ours"] = row.Ours,
        ["medianNs"] = Rounded(row.MedianNs),
        ["minNs"] = Rounded(row.MinNs),
        ["bytesPerOp"] = Rounded(row.BytesPerOp),
        ["gen0"] = Rounded(row.Gen0),
        ["gen1"] = Rounded(row.Gen1),
        ["gen2"] = Rounded(row.Gen2),
        ["baseline"] = row.Baseline,
        ["ratio"] = Rounded(row.Ratio?.Value),
        ["ratioLow"] = Rounded(row.Ratio?.Low),
        ["ratioHigh"] = Rounded(row.Ratio?.High),
        ["metrics"] = new JsonObject(
            row.Metrics.Select(metric => KeyValuePair.Create<string, JsonNode?>(metric.Key, Rounded(metric.Value)))),
    };

    private static JsonObject VerdictOf(Verdict verdict) => new()
    {
        ["id"] = verdict.Bar.Id,
        ["name"] = verdict.Bar.Name,
        ["state"] = verdict.StateText,
        ["pass"] = verdict.State == VerdictState.Pass,
        ["value"] = Rounded(verdict.Value),
        ["limit"] = verdict.Bar.Limit,
        ["detail"] = verdict.Detail,
    };

    private static JsonObject CellOf(Cell cell)
    {
        var json = new JsonObject();
        foreach (var (name, value) in cell.Coordinates)
        {
            json[name] = value is long number ? JsonValue.Create(number) : JsonValue.Create((string)value);
        }

        return json;
    }

    /// <summary>Five digits are more than any of the numbers is good for, and keep the files readable.</summary>
    private static JsonValue? Rounded(double? value)
    {
        if (value is not { } number || !double.IsFinite(number))
        {
            return null;
        }

        if (number == 0)
        {
            return JsonValue.Create(0);
        }

        int digits = Math.Clamp(4 - (int)Math.Floor(Math.Log10(Math.Abs(number))), 0, 15);
        return JsonValue.Create(Math.Round((decimal)number, digits));
    }

    private static ReportLab ReadLab(JsonObject lab) => new(
        lab["name"]!.GetValue<string>(),
        lab["processes"]!.GetValue<int>(),
        [.. lab["rows"]!.AsArray().Select(row => ReadRow(row!.AsObject()))],
        [.. lab["verdicts"]!.AsArray().Select(verdict => ReadVerdict(verdict!.AsObject()))]);

    private static ReportRow ReadRow(JsonObject row)
    {
        double? Number(string name) => row[name]?.GetValue<double>();
        return new ReportRow
        {
            Cell = Cell.Of([.. row["cell"]!.AsObject().Select(c => (c.Key, ReadCoordinate(c.Value!)))]),
            Subject = row["subject"]!.GetValue<string>(),
            Ours = row["ours"]!.GetValue<bool>(),
            MedianNs = Number("medianNs"),
            MinNs = Number("minNs"),
            BytesPerOp = Number("bytesPerOp"),
            Gen0 = Number("gen0"),
            Gen1 = Number("gen1"),
            Gen2 = Number("gen2"),
            Baseline = row["baseline"]?.GetValue<string>(),
            Ratio = Number("ratio") is { } ratio ? new RatioEstimate(ratio, Number("ratioLow")!.Value, Number("ratioHigh")!.Value) : null,
            Metrics = row["metrics"]!.AsObject().ToDictionary(metric => metric.Key, metric => metric.Value!.GetValue<double>()),
        };
    }

    private static object ReadCoordinate(JsonNode value) =>
        value.GetValueKind() == JsonValueKind.Number ? value.GetValue<long>() : value.GetValue<string>();

    private static Verdict ReadVerdict(JsonObject verdict)
    {
        string id = verdict["id"]!.GetValue<string>();
        string name = verdict["name"]!.GetValue<string>();
        double limit = verdict["limit"]!.GetValue<double>();
        var state = verdict["state"]!.GetValue<string>() switch
        {
            "PASS" => VerdictState.Pass,
            "FAIL" => VerdictState.Fail,
            "UNCLEAR" => VerdictState.Unclear,
            "NOT RUN" => VerdictState.NotRun,
            var other => throw new JsonException($"There is no verdict state '{other}'."),
        };
        var bar = Bars.All.FirstOrDefault(bar => bar.Id == id) ?? new Bar(id, "", name, BarKind.Ratio, limit);
        return new Verdict(
            bar with { Name = name, Limit = limit },
            state,
            verdict["value"]?.GetValue<double>(),
            verdict["detail"]!.GetValue<string>());
    }
}
