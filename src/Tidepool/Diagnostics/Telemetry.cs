using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Tidepool;

/// <summary>The meter and the activity source of the process, and the tags that both have.</summary>
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

    internal static readonly ActivitySource Source = new(Name);

    /// <summary>A name of the code as values of tags are written: <c>double_return</c>.</summary>
    internal static string Snake(string name) =>
        string.Concat(name.Select(static (letter, place) => place > 0 && char.IsUpper(letter) ? $"_{letter}" : $"{letter}"))
            .ToLowerInvariant();
}
