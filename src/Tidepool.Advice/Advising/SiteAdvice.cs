namespace Tidepool.Advice;

/// <summary>What to do about a site.</summary>
internal enum Verdict
{
    /// <summary>Pool it.</summary>
    Pool,

    /// <summary>Leave it, or change it in another way.</summary>
    DoNotPool,

    /// <summary>What was seen does not decide it.</summary>
    NotEnoughEvidence,
}

/// <summary>The verdict on one site, with the reason, and for <see cref="Verdict.Pool"/> what to write instead.</summary>
internal sealed record SiteAdvice
{
    /// <summary>The site.</summary>
    public required AllocationSite Site { get; init; }

    /// <summary>What to do.</summary>
    public required Verdict Verdict { get; init; }

    /// <summary>Why, in one sentence.</summary>
    public required string Reason { get; init; }

    /// <summary>What pooling it is expected to save; null for all other verdicts: nothing.</summary>
    public Saving? Saving { get; init; }

    /// <summary>Which pool: <c>buffers</c>, <c>streams</c>, <c>objects</c>; null without one.</summary>
    public string? Kind { get; init; }

    /// <summary>The lengths that the pool should serve, in bytes of content, ascending.</summary>
    public IReadOnlyList<long> Classes { get; init; } = [];

    /// <summary>What the code looks like now; null without a suggestion.</summary>
    public string? Before { get; init; }

    /// <summary>What it would look like; null without a suggestion.</summary>
    public string? After { get; init; }
}
