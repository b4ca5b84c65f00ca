using System.Globalization;
using System.Text.Json.Nodes;

namespace Tidepool.Labs.Tests.Comparing;

/// <summary>A made-up result file of lab <c>fake</c>: a baseline and, in each cell, rows with the given ratios.</summary>
internal static class MadeUpResult
{
    public const string Baseline = "Usual<T>";
    public const string Ours = "Ours<T>";

    /// <summary>One row of ours for each ratio, in cells of length 1, 2, ...; every interval reaches 1 % to both sides.</summary>
    public static ResultFile Of(params double[] ratios) => ResultJson.Read(Json(ratios).ToJsonString());

    public static JsonObject Json(params double[] ratios) => new()
    {
        ["schema"] = 2,
        ["time"] = "2026-11-24T11:20:00Z",
        ["commit"] = "0123456789abcdef0123456789abcdef01234567",
        ["machine"] = new JsonObject
        {
            ["processor"] = "Fast One",
            ["cores"] = 2,
            ["system"] = "Linux",
            ["runtime"] = ".NET 10",
            ["collector"] = "workstation",
            ["mode"] = "full",
            ["tidepool"] = "0.1.0",
            ["stopped"] = false,
            ["rivals"] = new JsonObject { ["Usual"] = "1.0" },
        },
        ["labs"] = new JsonArray(Lab("fake", ratios)),
    };

    public static JsonObject Lab(string name, params double[] ratios) => new()
    {
        ["name"] = name,
        ["processes"] = 7,
        ["rows"] = new JsonArray(
        [
            .. ratios.Index().SelectMany(ratio => (JsonNode[])
            [
                Row(ratio.Index + 1, Baseline, null),
                Row(ratio.Index + 1, Ours, ratio.Item),
            ]),
        ]),
        ["verdicts"] = new JsonArray(),
    };

    public static JsonObject Row(int length, string subject, double? ratio, double spread = 0.01) => new()
    {
        ["cell"] = new JsonObject { ["length"] = length },
        ["subject"] = subject,
        ["ours"] = subject == Ours,
        ["medianNs"] = 10 * (ratio ?? 1),
        ["baseline"] = Baseline,
        ["ratio"] = ratio,
        ["ratioLow"] = ratio * (1 - spread),
        ["ratioHigh"] = ratio * (1 + spread),
        ["metrics"] = new JsonObject(),
    };

    /// <summary>The file with one member changed; the path is names and numbers of items, such as <c>labs/0/rows/1/ratio</c>.</summary>
    public static string With(this JsonObject json, string path, JsonNode? value)
    {
        string[] steps = path.Split('/');
        JsonNode node = json;
        foreach (string step in steps[..^1])
        {
            node = int.TryParse(step, CultureInfo.InvariantCulture, out int index) ? node[index]! : node[step]!;
        }

        if (int.TryParse(steps[^1], CultureInfo.InvariantCulture, out int last))
        {
            node[last] = value;
        }
        else
        {
            node[steps[^1]] = value;
        }

        return json.ToJsonString();
    }
}
