using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Tidepool.Labs;

/// <summary>A result file that was read back.</summary>
internal sealed record ResultFile(JsonObject Machine, IReadOnlyList<ReportLab> Labs)
{
    /// <summary>When it was written (UTC); null in files of schema 1.</summary>
    public DateTime? Time { get; init; }

    /// <summary>The commit that was measured; null where it was not known.</summary>
    public string? Commit { get; init; }
}

/// <summary>Writes and reads result files: <c>{"schema":2,"time":...,"commit":...,"machine":{...},"labs":[...]}</c>.</summary>
internal static class ResultJson
{
    /// <summary>The schema that is written. Files without one are of schema 1, which lacks time and commit.</summary>
    public const int Schema = 2;

    private static readonly JsonDocumentOptions Strict = new() { AllowDuplicateProperties = false };
    private static readonly JsonSerializerOptions Layout = new() { WriteIndented = true, NewLine = "\n" };

    /// <summary>The file's text.</summary>
    public static string Write(LabReport report, IReadOnlyList<ReportLab> labs) =>
        ToJson(report, labs).ToJsonString(Layout) + "\n";

    /// <summary>The file's content.</summary>
    public static JsonObject ToJson(LabReport report, IReadOnlyList<ReportLab> labs)
    {
        DateTime now = DateTime.UtcNow;
        return new()
        {
            ["schema"] = Schema,
            ["time"] = now.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture),
            ["commit"] = BuildVersion.Commit,
            ["machine"] = MachineOf(report, labs, now),
            ["labs"] = new JsonArray([.. labs.Select(LabOf)]),
        };
    }

    /// <summary>Reads a file of this schema or of an older one.</summary>
    /// <exception cref="JsonException">It is no result file, or one of a newer schema; the message says why.</exception>
    public static ResultFile Read(string text)
    {
        try
        {
            return ReadFile(JsonNode.Parse(text, documentOptions: Strict) as JsonObject
                ?? throw new JsonException("it is not one JSON object"));
        }
        catch (Exception failure) when (failure is InvalidOperationException or FormatException)
        {
            throw new JsonException(failure.Message, failure);
        }
    }

    private static ResultFile ReadFile(JsonObject root)
    {
        int schema = root["schema"]?.GetValue<int>() ?? 1;
        if (schema is < 1 or > Schema)
        {
            throw new JsonException($"its schema is {schema}, and this version of Tidepool reads 1 to {Schema}");
        }

        return new(Member(root, "machine").AsObject(), [.. Objects(root, "labs").Select(ReadLab)])
        {
            Time = root["time"]?.GetValue<DateTimeOffset>().UtcDateTime,
            Commit = root["commit"]?.GetValue<string>(),
        };
    }

    private static JsonObject MachineOf(LabReport report, IReadOnlyList<ReportLab> labs, DateTime now)
    {
        var machine = JsonSerializer.SerializeToNode(report.Machine, JsonSerializerOptions.Web)!.AsObject();
        machine["measured"] = now.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
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
        Member(lab, "name").GetValue<string>(),
        Member(lab, "processes").GetValue<int>(),
        [.. Objects(lab, "rows").Select(ReadRow)],
        [.. Objects(lab, "verdicts").Select(ReadVerdict)]);

    private static ReportRow ReadRow(JsonObject row)
    {
        double? Number(string name) => row[name]?.GetValue<double>();
        return new ReportRow
        {
            Cell = Cell.Of([.. Member(row, "cell").AsObject().Select(c => (c.Key, ReadCoordinate(c.Key, c.Value)))]),
            Subject = Member(row, "subject").GetValue<string>(),
            Ours = Member(row, "ours").GetValue<bool>(),
            MedianNs = Number("medianNs"),
            MinNs = Number("minNs"),
            BytesPerOp = Number("bytesPerOp"),
            Gen0 = Number("gen0"),
            Gen1 = Number("gen1"),
            Gen2 = Number("gen2"),
            Baseline = row["baseline"]?.GetValue<string>(),
            Ratio = Number("ratio") is { } ratio ? ReadRatio(ratio, Number("ratioLow"), Number("ratioHigh")) : null,
            Metrics = Member(row, "metrics").AsObject().ToDictionary(
                metric => metric.Key, metric => metric.Value?.GetValue<double>() ?? throw Missing(metric.Key)),
        };
    }

    private static RatioEstimate ReadRatio(double ratio, double? low, double? high) =>
        ratio > 0 && low > 0 && high >= low && double.IsFinite(ratio) && double.IsFinite(high.Value)
            ? new(ratio, low.Value, high.Value)
            : throw new JsonException(
                string.Create(CultureInfo.InvariantCulture, $"a ratio of {ratio} cannot have the interval {low} .. {high}"));

    private static object ReadCoordinate(string name, JsonNode? value) => value switch
    {
        null => throw Missing(name),
        _ when value.GetValueKind() == JsonValueKind.Number => value.GetValue<long>(),
        _ => value.GetValue<string>(),
    };

    private static Verdict ReadVerdict(JsonObject verdict)
    {
        string id = Member(verdict, "id").GetValue<string>();
        string name = Member(verdict, "name").GetValue<string>();
        double limit = Member(verdict, "limit").GetValue<double>();
        var state = Member(verdict, "state").GetValue<string>() switch
        {
            "PASS" => VerdictState.Pass,
            "FAIL" => VerdictState.Fail,
            "UNCLEAR" => VerdictState.Unclear,
            "NOT RUN" => VerdictState.NotRun,
            var other => throw new JsonException($"there is no verdict state '{other}'"),
        };
        var bar = Bars.All.FirstOrDefault(bar => bar.Id == id) ?? new Bar(id, "", name, BarKind.Ratio, limit);
        return new Verdict(
            bar with { Name = name, Limit = limit },
            state,
            verdict["value"]?.GetValue<double>(),
            Member(verdict, "detail").GetValue<string>());
    }

    private static IEnumerable<JsonObject> Objects(JsonObject parent, string name) =>
        Member(parent, name).AsArray().Select(item => item as JsonObject ?? throw new JsonException($"'{name}' holds more than objects"));

    private static JsonNode Member(JsonObject parent, string name) => parent[name] ?? throw Missing(name);

    private static JsonException Missing(string name) => new($"'{name}' is missing");
}
