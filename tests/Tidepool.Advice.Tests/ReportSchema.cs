using System.Reflection;
using System.Text.Json;

namespace Tidepool.Advice.Tests;

/// <summary>Compares a report with the schema that the documentation has of it.</summary>
internal static class ReportSchema
{
    /// <summary>As far as the schema goes: which fields there must be, and that there are no others.</summary>
    public static void AssertFits(JsonElement report, string file)
    {
        string root = typeof(ReportSchema).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static attribute => attribute.Key == "RepositoryRoot").Value!;
        using JsonDocument schema = JsonDocument.Parse(File.ReadAllText(Path.Combine(root, "docs", file)));
        AssertFits(report, schema.RootElement, schema.RootElement, "");
    }

    private static void AssertFits(JsonElement value, JsonElement schema, JsonElement root, string path)
    {
        if (schema.TryGetProperty("$ref", out JsonElement reference))
        {
            schema = root.GetProperty("$defs").GetProperty(reference.GetString()!.Split('/')[^1]);
        }

        switch (value.ValueKind)
        {
            case JsonValueKind.Object:
                JsonElement known = schema.GetProperty("properties");
                Assert.All(
                    schema.GetProperty("required").EnumerateArray(),
                    name => Assert.True(value.TryGetProperty(name.GetString()!, out _), $"{path} has no {name}"));
                foreach (JsonProperty property in value.EnumerateObject())
                {
                    Assert.True(known.TryGetProperty(property.Name, out JsonElement inner), $"{path}.{property.Name} is not in the schema");
                    AssertFits(property.Value, inner, root, $"{path}.{property.Name}");
                }

                break;
            case JsonValueKind.Array:
                foreach (JsonElement item in value.EnumerateArray())
                {
                    AssertFits(item, schema.GetProperty("items"), root, path + "[]");
                }

                break;
            case JsonValueKind.String when schema.TryGetProperty("enum", out JsonElement words):
                Assert.Contains(value.GetString(), words.EnumerateArray().Select(static word => word.GetString()));
                break;
        }
    }
}
