namespace Tidepool.Advice;

/// <summary>All sampled allocations of one type at one place of the program.</summary>
internal sealed record AllocationSite
{
    /// <summary>The method that allocates, as its author wrote it.</summary>
    public required string Method { get; init; }

    /// <summary>The type of the objects.</summary>
    public required string Type { get; init; }

    /// <summary>The source file; empty where symbols are missing.</summary>
    public string File { get; init; } = "";

    /// <summary>The line, from 1; 0 where symbols are missing.</summary>
    public int Line { get; init; }

    /// <summary>How many objects were sampled.</summary>
    public int Samples { get; init; }

    /// <summary>In how many slices.</summary>
    public int Slices { get; init; }

    /// <summary>Bytes allocated per second.</summary>
    public Interval BytesPerSecond { get; init; }

    /// <summary>Objects allocated per second.</summary>
    public Interval ObjectsPerSecond { get; init; }

    /// <summary>The share of all bytes that were allocated, from 0 to 1.</summary>
    public double Share { get; init; }

    /// <summary>The share of the site's bytes on the large object heap.</summary>
    public double LargeShare { get; init; }

    /// <summary>Whether more of its bytes are on the large object heap than are not.</summary>
    public bool IsMostlyLarge => LargeShare > 0.5;

    /// <summary>How many collections of the process large objects brought, per minute.</summary>
    public double LargeCollectionsPerMinute { get; init; }

    /// <summary>Whether a pool made the objects because it had none.</summary>
    public bool IsPoolMiss { get; init; }

    /// <summary>The class of the platform that made them for its own use; null where the program did.</summary>
    public string? Builder { get; init; }

    /// <summary>The sizes of the objects in bytes, each weighted by how many it stands for, ascending.</summary>
    public IReadOnlyList<(long Size, double Objects)> Sizes { get; init; } = [];

    /// <summary>The most of the site's bytes that can have outlived their first collection; null where that is not known.</summary>
    public double? MostSurviving { get; init; }

    /// <summary>How long its objects live; null where that was not followed, or no collection looked at one.</summary>
    public SiteLifetime? Lifetime { get; init; }

    /// <summary>The share of the freed bytes that another thread freed than allocated them; null where frees are not seen.</summary>
    public Interval? FreedElsewhere { get; init; }

    /// <summary>Within how many seconds half of the bytes are freed; null where frees are not seen, or fewer are freed.</summary>
    public double? HalfFreedWithin { get; init; }

    /// <summary>The size that a share of the objects does not exceed.</summary>
    /// <param name="share">From 0 to 1.</param>
    public long Quantile(double share)
    {
        double wanted = Sizes.Sum(static size => size.Objects) * share;
        foreach (var (size, objects) in Sizes)
        {
            wanted -= objects;
            if (wanted <= 1e-9)
            {
                return size;
            }
        }

        return Sizes is [.., var last] ? last.Size : 0;
    }
}
