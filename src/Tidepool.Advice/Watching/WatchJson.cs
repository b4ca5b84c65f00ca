using System.Text.Json;
using System.Text.Json.Serialization;

namespace Tidepool.Advice;

/// <summary>Writes frames as lines of JSON.</summary>
internal static class WatchJson
{
    private static readonly JsonSerializerOptions Options = new(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Converters = { new RoundedNumber() },
    };

    /// <summary>One line. What is not known is left out.</summary>
    public static string Line(WatchFrame frame) => JsonSerializer.Serialize(frame, Options);

    /// <summary>Three digits behind the point: more of them are noise that makes lines long.</summary>
    private sealed class RoundedNumber : JsonConverter<double>
    {
        public override double Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetDouble();

        public override void Write(Utf8JsonWriter writer, double value, JsonSerializerOptions options) =>
            writer.WriteNumberValue(Math.Round(value, 3));
    }
}
