using System.Diagnostics;

namespace Tidepool;

/// <summary>Which pool, and which of its keys, a measurement or a span is of.</summary>
/// <param name="Pool">The name of the pool.</param>
/// <param name="Key">The key as metrics have it (<see cref="KeyLabels"/>); null in a pool without keys.</param>
internal readonly record struct ResourceSeries(string Pool, string? Key)
{
    /// <summary>The tags, with that of the pool under the name that is given.</summary>
    internal TagList Tags(string poolTag = Telemetry.PoolTag)
    {
        TagList tags = new() { { poolTag, Pool } };
        if (Key is not null)
        {
            tags.Add(Telemetry.KeyTag, Key);
        }

        return tags;
    }
}
