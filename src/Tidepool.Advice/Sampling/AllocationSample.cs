namespace Tidepool.Advice;

/// <summary>One frame of a stack.</summary>
/// <param name="Module">The assembly, without extension.</param>
/// <param name="Method">The method with its type, as its author wrote it.</param>
/// <param name="File">The source file; empty where symbols are missing.</param>
/// <param name="Line">The line, from 1; 0 where symbols are missing.</param>
internal sealed record StackPlace(string Module, string Method, string File, int Line);

/// <summary>An object that the runtime has sampled when it was allocated.</summary>
internal sealed record AllocationSample
{
    /// <summary>The name of its type.</summary>
    public required string Type { get; init; }

    /// <summary>Its bytes on the heap, header included.</summary>
    public required long Size { get; init; }

    /// <summary>Whether it went to the large object heap.</summary>
    public bool IsLarge { get; init; }

    /// <summary>The frames, the innermost first.</summary>
    public required IReadOnlyList<StackPlace> Stack { get; init; }

    /// <summary>What became of it; null where lifetimes were not followed.</summary>
    public Lifetime? Lifetime { get; init; }

    /// <summary>How it was freed; null where frees are not seen, as in .NET.</summary>
    public SampleRelease? Release { get; init; }
}

/// <summary>How a native block was freed.</summary>
/// <param name="Seconds">After how long; null while it lives.</param>
/// <param name="IsElsewhere">Whether another thread than the one that allocated it has freed it.</param>
internal sealed record SampleRelease(double? Seconds, bool IsElsewhere);

/// <summary>What was seen while the stack session was on once.</summary>
internal sealed record SampleSlice
{
    /// <summary>How long it was on.</summary>
    public required double Seconds { get; init; }

    /// <summary>The samples.</summary>
    public IReadOnlyList<AllocationSample> Samples { get; init; } = [];

    /// <summary>Collections by reason.</summary>
    public IReadOnlyDictionary<string, int> Collections { get; init; } = new Dictionary<string, int>();

    /// <summary>How many collections of generation 2 have said what of the large object heap outlived them.</summary>
    public int FullCollections { get; init; }

    /// <summary>How long collections held the process up, each.</summary>
    public IReadOnlyList<CollectionPause> Pauses { get; init; } = [];

    /// <summary>
    /// How many collections have said what they promoted out of generation 0. One in the background takes in no young generation, and of
    /// one at the end of the slice the end may not be seen.
    /// </summary>
    public int YoungCollections { get; init; }

    /// <summary>Bytes that those promoted out of generation 0.</summary>
    public long PromotedBytes { get; init; }

    /// <summary>Bytes of the large object heap that outlived collections of generation 2.</summary>
    public long LargeSurvivingBytes { get; init; }

    /// <summary>Events that the process could not deliver.</summary>
    public long LostEvents { get; init; }
}
