using System.Text.Json;
using Tidepool.Advice.Tests.Comparing;

namespace Tidepool.Advice.Tests.Advising;

public sealed class SarifReportTests : IDisposable
{
    /// <summary>What the schema of SARIF 2.1.0 requires of the objects that are written here.</summary>
    private static readonly Dictionary<string, string[]> Required = new()
    {
        [""] = ["version", "runs"],
        ["runs"] = ["tool"],
        ["tool"] = ["driver"],
        ["driver"] = ["name"],
        ["rules"] = ["id"],
        ["shortDescription"] = ["text"],
        ["results"] = ["message"],
        ["message"] = ["text"],
        ["artifactLocation"] = ["uri"],
    };

    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool sarif ").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void The_log_has_what_the_schema_requires_and_rules_that_its_results_name()
    {
        using JsonDocument log = Write(MadeUpAdvice.Many(2, 1, "Api.Handle"));
        AssertRequired(log.RootElement, "");
        Assert.Equal("2.1.0", log.RootElement.GetProperty("version").GetString());
        JsonElement run = log.RootElement.GetProperty("runs")[0];
        JsonElement rules = run.GetProperty("tool").GetProperty("driver").GetProperty("rules");
        Assert.All(run.GetProperty("results").EnumerateArray(), result =>
        {
            JsonElement rule = rules[result.GetProperty("ruleIndex").GetInt32()];
            Assert.Equal(rule.GetProperty("id").GetString(), result.GetProperty("ruleId").GetString());
            Assert.Equal(
                rule.GetProperty("defaultConfiguration").GetProperty("level").GetString(), result.GetProperty("level").GetString());
        });
        Assert.Equal(
            ["ADVISE001 note", "ADVISE001 note", "ADVISE004 error", "ADVISE002 note", "ADVISE003 warning"],
            run.GetProperty("results").EnumerateArray()
                .Select(static result => $"{result.GetProperty("ruleId").GetString()} {result.GetProperty("level").GetString()}"));
    }

    [Fact]
    public void A_result_has_its_file_and_line_and_keeps_its_fingerprint_when_the_line_moves()
    {
        AdviceReport report = MadeUpAdvice.Many(1, 1, "Api.Handle");
        using JsonDocument log = Write(report);
        JsonElement results = log.RootElement.GetProperty("runs")[0].GetProperty("results");
        JsonElement place = results[0].GetProperty("locations")[0].GetProperty("physicalLocation");
        Assert.Equal("file:///src/Api.cs", place.GetProperty("artifactLocation").GetProperty("uri").GetString());
        Assert.Equal(12, place.GetProperty("region").GetProperty("startLine").GetInt32());
        JsonElement reported = results[1].GetProperty("locations")[0].GetProperty("physicalLocation");
        Assert.Equal(17, reported.GetProperty("region").GetProperty("startLine").GetInt32());
        Assert.False(results[2].GetProperty("locations")[0].TryGetProperty("physicalLocation", out _));

        SiteAdvice moved = report.Sites[0] with { Site = report.Sites[0].Site with { Line = 99 } };
        using JsonDocument later = Write(report with { Sites = [moved] });
        JsonElement again = later.RootElement.GetProperty("runs")[0].GetProperty("results");
        Assert.Equal(FingerprintOf(results[0]), FingerprintOf(again[0]));
        Assert.NotEqual(FingerprintOf(results[0]), FingerprintOf(results[1]));
    }

    [Fact]
    public void Paths_are_relative_to_the_repository_also_of_what_was_built_elsewhere()
    {
        string inner = Directory.CreateDirectory(Path.Combine(_folder, "src", "my api")).FullName;
        Directory.CreateDirectory(Path.Combine(_folder, ".git"));
        string file = Path.Combine(inner, "Api.cs");
        File.WriteAllText(file, "");
        SourceRoot root = SourceRoot.Find(inner);
        Assert.Equal(_folder + Path.DirectorySeparatorChar, root.Folder);
        Assert.Equal("src/my%20api/Api.cs", root.Relative(file));
        Assert.Equal("src/my%20api/Api.cs", root.Relative("/_/src/my api/Api.cs"));
        Assert.Equal("src/my%20api/Api.cs", root.Relative("/build/work/orders/src/my api/Api.cs"));
        Assert.Equal("src/my%20api/Api.cs", root.Relative(@"C:\work\orders\src\my api\Api.cs"));
        Assert.Null(root.Relative("/elsewhere/Other.cs"));
        Assert.Null(root.Relative("/a/../src/my api/Api.cs"));
        Assert.Equal("file:///C%3A/work/Api.cs", SourceRoot.Absolute(@"C:\work\Api.cs"));

        AdviceReport report = MadeUpAdvice.Sampled();
        using JsonDocument log = JsonDocument.Parse(SarifReport.Write(
            report with { Sites = [report.Sites[0] with { Site = report.Sites[0].Site with { File = file } }] }, root, "1.0"));
        JsonElement run = log.RootElement.GetProperty("runs")[0];
        JsonElement place = run.GetProperty("results")[0].GetProperty("locations")[0].GetProperty("physicalLocation")
            .GetProperty("artifactLocation");
        Assert.Equal("src/my%20api/Api.cs", place.GetProperty("uri").GetString());
        Assert.Equal("SRCROOT", place.GetProperty("uriBaseId").GetString());
        string uri = run.GetProperty("originalUriBaseIds").GetProperty("SRCROOT").GetProperty("uri").GetString()!;
        Assert.EndsWith("/", uri, StringComparison.Ordinal); // required of a base
        Assert.Equal(file, new Uri(new Uri(uri), place.GetProperty("uri").GetString()!).LocalPath);
    }

    private static JsonDocument Write(AdviceReport report) =>
        JsonDocument.Parse(SarifReport.Write(report, new SourceRoot((string?)null), "1.0"));

    private static string? FingerprintOf(JsonElement result) =>
        result.GetProperty("partialFingerprints").GetProperty("tidepoolAdvice/v1").GetString();

    private static void AssertRequired(JsonElement value, string name)
    {
        switch (value.ValueKind)
        {
            case JsonValueKind.Object:
                Assert.All(
                    Required.GetValueOrDefault(name, []), field => Assert.True(value.TryGetProperty(field, out _), $"{name}: {field}"));
                foreach (JsonProperty property in value.EnumerateObject())
                {
                    AssertRequired(property.Value, property.Name);
                }

                break;
            case JsonValueKind.Array:
                foreach (JsonElement item in value.EnumerateArray())
                {
                    AssertRequired(item, name);
                }

                break;
            default:
                Assert.NotEqual(JsonValueKind.Null, value.ValueKind);
                break;
        }
    }
}
