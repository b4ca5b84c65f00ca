using System.Buffers;
using System.Text;

namespace Tidepool.Advice;

/// <summary>The limits of the verdicts, each printed with the verdict that it decides.</summary>
internal sealed record AdviceLimits
{
    /// <summary>The fewest samples that decide anything.</summary>
    public int Samples { get; init; } = 30;

    /// <summary>The smallest share of all bytes that is worth a change.</summary>
    public double Share { get; init; } = 0.02;

    /// <summary>Or the fewest bytes per second.</summary>
    public double BytesPerSecond { get; init; } = 5e6;

    /// <summary>Or, of large objects, more than so many collections per minute that large objects bring.</summary>
    public double LargeCollections { get; init; } = 1;

    /// <summary>The smallest content of an array, in bytes, that a pool pays for.</summary>
    public long SmallestArray { get; init; } = 1024;

    /// <summary>The smallest array with references that a pool pays for, in bytes.</summary>
    public long SmallestReferences { get; init; } = 4096;

    /// <summary>The largest share of the bytes that may be kept: reach generation 2, or, not followed, outlive a collection.</summary>
    public double Surviving { get; init; } = 0.5;

    /// <summary>In how many slices a site must be, of those there were.</summary>
    public int Slices { get; init; } = 3;

    /// <summary>The smallest share of a processor that a native site's malloc and free take and a pool pays for.</summary>
    public double Processor { get; init; } = 0.01;
}

/// <summary>Decides about sites. Pure: the same site gets the same verdict.</summary>
internal static class Advisor
{
    /// <summary>The verdict on one site.</summary>
    /// <param name="site">The site.</param>
    /// <param name="slices">How many slices there were.</param>
    /// <param name="limits">The limits.</param>
    public static SiteAdvice Judge(AllocationSite site, int slices, AdviceLimits limits) =>
        JudgeEvidence(site, slices, limits) ?? JudgeMiss(site) ?? JudgeType(site, limits) ?? JudgeLifetime(site, limits)
        ?? Pool(site, limits);

    /// <summary>Whether there is too little to judge; null when there is enough.</summary>
    internal static SiteAdvice? JudgeEvidence(AllocationSite site, int slices, AdviceLimits limits)
    {
        if (site.Samples < limits.Samples)
        {
            return Undecided(site, $"{site.Samples} samples; {limits.Samples} decide.");
        }

        bool bringsCollections = site.IsMostlyLarge && site.LargeCollectionsPerMinute > limits.LargeCollections;
        if (site.Share < limits.Share && site.BytesPerSecond.Low < limits.BytesPerSecond && !bringsCollections)
        {
            return Undecided(
                site,
                $"{Quantity.Percent(site.Share)} of the bytes; a change is worth looking at from {Quantity.Percent(limits.Share)}, or from "
                    + $"{Quantity.Bytes(limits.BytesPerSecond)}/s.");
        }

        if (site.Slices < Math.Min(limits.Slices, slices))
        {
            return Undecided(site, $"seen in {site.Slices} of {slices} slices: a burst. Run again in the steady state.");
        }

        return null;
    }

    private static SiteAdvice? JudgeMiss(AllocationSite site) => site.IsPoolMiss
        ? Not(
            site,
            "a pool made these because it had none idle: return what was rented, or give the pool more room."
                + (TypeRules.IsArray(site.Type)
                    ? " The sizes are those of its arrays: what was asked for may have been little more than half of that."
                    : "")
                + (site.IsMostlyLarge ? " They are on the large object heap: a collection of everything comes nearer with each." : ""))
        : null;

    /// <summary>What the type alone decides.</summary>
    private static SiteAdvice? JudgeType(AllocationSite site, AdviceLimits limits)
    {
        long median = site.Quantile(0.5);
        if (site.Builder is not null)
        {
            return JudgeBuilder(site, limits);
        }

        if (site.Type == "System.String")
        {
            return Not(site, "strings cannot be reused: format into a span or a pooled writer, or keep the string that repeats.");
        }

        if (TypeRules.IsHidden(site.Type))
        {
            return Not(site, "the compiler or the platform makes these: avoid the closure, the box or the completed task instead.");
        }

        if (!TypeRules.IsArray(site.Type))
        {
            return Not(
                site,
                $"an object of {median} bytes is cheaper to allocate than to pool, unless its constructor is expensive, which is not "
                    + "measured here.");
        }

        if (TypeRules.PlainElement(site.Type) is not null)
        {
            return median - TypeRules.ArrayHeader < limits.SmallestArray
                ? Not(
                    site,
                    $"half of these arrays have at most {median - TypeRules.ArrayHeader} bytes of content, and a pool pays from "
                        + $"{limits.SmallestArray}: use stackalloc or a span of a larger array.")
                : null;
        }

        return median < limits.SmallestReferences
            ? Not(
                site,
                $"half of these arrays have at most {median} bytes and may hold references: pooled they would keep what they refer to "
                    + $"alive and cost a write barrier for each store. A pool pays from {limits.SmallestReferences} bytes.")
            : null;
    }

    private static SiteAdvice? JudgeBuilder(AllocationSite site, AdviceLimits limits)
    {
        if (site.Builder is not (nameof(MemoryStream) or nameof(StringBuilder) or nameof(ArrayBufferWriter<>)))
        {
            return Not(site, $"{site.Builder} grows here: give it the capacity it will have, or keep it and clear it.");
        }

        long smallest = TypeRules.PlainElement(site.Type) is null ? limits.SmallestReferences : limits.SmallestArray;
        return site.Quantile(0.5) < smallest
            ? Not(site, $"{site.Builder} stays below {smallest} bytes here: that is cheaper than a pool.")
            : null;
    }

    /// <summary>What is kept must not be pooled, and what may be kept is not advised.</summary>
    private static SiteAdvice? JudgeLifetime(AllocationSite site, AdviceLimits limits) => Followed(site, limits) switch
    {
        { Kept: var kept } when kept.Low > limits.Surviving => Not(
            site, $"{LifetimeText.Share(kept)} of these bytes reach generation 2: what is kept is no case for a pool."),
        { Kept: var kept } when kept.High > limits.Surviving => Undecided(
            site,
            $"{LifetimeText.Share(kept)} of these bytes reach generation 2, and up to {Quantity.Percent(limits.Surviving)} would be a "
                + "case for a pool. Watch for longer."),
        { } => null,
        null => JudgeBound(site, limits),
    };

    /// <summary>Judges by the survivors of the whole process, which may all be of this site.</summary>
    private static SiteAdvice? JudgeBound(AllocationSite site, AdviceLimits limits) => site.MostSurviving switch
    {
        null => Undecided(site, "no collection looked at these, so it is not known whether these die young. Watch for longer."),
        var most when most > limits.Surviving => Undecided(
            site,
            $"up to {Quantity.Percent(most.Value)} of these bytes may outlive a collection: what is kept is no case for a pool."),
        _ => null,
    };

    private static SiteAdvice Pool(AllocationSite site, AdviceLimits limits)
    {
        string young = Young(site, limits);
        if (site.Builder == nameof(MemoryStream))
        {
            return Advise(site, "streams", $"the buffers of a MemoryStream; {young}.", "new MemoryStream()", "new PooledMemoryStream()");
        }

        if (site.Builder == nameof(StringBuilder))
        {
            return Advise(site, "objects", $"the chunks of a StringBuilder; {young}.", "new StringBuilder()", "PooledStringBuilder.Rent()");
        }

        string element = TypeRules.PlainElement(site.Type)?.Keyword ?? TypeRules.Short(site.Type)[..^2];
        if (site.Builder == nameof(ArrayBufferWriter<>))
        {
            return Advise(
                site,
                "writers",
                $"the arrays of an ArrayBufferWriter; {young}.",
                $"var writer = new ArrayBufferWriter<{element}>();",
                $"using var writer = new PooledBufferWriter<{element}>();");
        }

        bool isPlain = TypeRules.PlainElement(site.Type) is not null;
        string clear = isPlain ? "" : ", clear: true";
        string zeros = isPlain ? " Rented memory holds what was written last: add clear: true where the code relies on zeros." : "";
        string reason = site.IsMostlyLarge
            ? $"arrays on the large object heap, each of which brings a collection of everything nearer; {young}.{zeros}"
            : $"arrays without identity of their own; {young}.{zeros}";
        return Advise(
            site,
            "buffers",
            reason,
            $"{element}[] buffer = new {element}[n];",
            $"using BufferLease<{element}> buffer = BufferPool<{element}>.Shared.Rent(n{clear});") with { Classes = ClassesOf(site) };
    }

    /// <summary>Why the objects of a site count as ones that die young.</summary>
    private static string Young(AllocationSite site, AdviceLimits limits) => Followed(site, limits) switch
    {
        { DieYoung: { Value: >= 0.5 } young } => $"{LifetimeText.Share(young)} of the bytes die young",
        { Kept: var kept } => $"most outlive a collection, which copies them, but only {LifetimeText.Share(kept)} reach generation 2: "
            + "return them where their last use is",
        null => $"at most {Quantity.Percent(site.MostSurviving ?? 1)} outlive a collection",
    };

    /// <summary>How long they live, if enough of them were followed.</summary>
    private static SiteLifetime? Followed(AllocationSite site, AdviceLimits limits) =>
        site.Lifetime is { } known && known.Followed >= limits.Samples ? known : null;

    /// <summary>The bytes of content that half, nine tenths and all of the arrays need, rounded up to eight steps per doubling.</summary>
    private static IReadOnlyList<long> ClassesOf(AllocationSite site) =>
        [.. ((double[])[0.5, 0.9, 1]).Select(share => RoundUp(site.Quantile(share) - TypeRules.ArrayHeader)).Distinct().Order()];

    private static long RoundUp(long bytes)
    {
        if (bytes <= 128)
        {
            return 128;
        }

        long step = 1L << (63 - (int)long.LeadingZeroCount(bytes - 1) - 3);
        return (bytes + step - 1) / step * step;
    }

    /// <summary>Advises a pool, with code.</summary>
    internal static SiteAdvice Advise(AllocationSite site, string kind, string reason, string before, string after) => new()
    {
        Site = site,
        Verdict = Verdict.Pool,
        Kind = kind,
        Reason = reason,
        Before = before,
        After = after,
    };

    /// <summary>Advises against one.</summary>
    internal static SiteAdvice Not(AllocationSite site, string reason) =>
        new() { Site = site, Verdict = Verdict.DoNotPool, Reason = reason };

    /// <summary>Leaves it open.</summary>
    internal static SiteAdvice Undecided(AllocationSite site, string reason) =>
        new() { Site = site, Verdict = Verdict.NotEnoughEvidence, Reason = reason };
}
