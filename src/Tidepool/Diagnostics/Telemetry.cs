using System.Diagnostics.Metrics;
using System.Text;

namespace Tidepool;

/// <summary>The meter of the process, and the names and tags that it shares with the activity source of <see cref="PoolSpan"/>.</summary>
internal static class Telemetry
{
    /// <summary>What a program passes to <c>AddMeter</c> and <c>AddSource</c>.</summary>
    internal const string Name = "Tidepool";

    /// <summary>The tag with the pool's name.</summary>
    internal const string PoolTag = "tidepool.pool.name";

    /// <summary>The tag with the key of a keyed pool.</summary>
    internal const string KeyTag = "tidepool.pool.key";

    /// <summary>The conventions' tag for the type of an exception.</summary>
    internal const string ErrorTag = "error.type";

    internal static readonly Meter Meter = new(Name);

    /// <summary>A name of the code as values of tags are written: <c>double_return</c>.</summary>
    internal static string Snake(string name)
    {
        var text = new StringBuilder();
        foreach (char letter in name)
        {
            text.Append(text.Length > 0 && char.IsUpper(letter) ? "_" : "").Append(char.ToLowerInvariant(letter));
        }

        return text.ToString();
    }
}
