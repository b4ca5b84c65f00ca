namespace Tidepool.Advice;

/// <summary>One frame of a stack.</summary>
/// <param name="Module">The assembly, without extension.</param>
/// <param name="Method">The method with its type, as its author wrote it.</param>
/// <param name="File">The source file; empty where symbols are missing.</param>
/// <param name="Line">The line, from 1; 0 where symbols are missing.</param>
internal sealed record StackPlace(string Module, string Method, string File, int Line)
{
    /// <summary>
    /// What the statement may allocate, by its calls: classes of the platform that it makes grow, such as <c>MemoryStream</c>, and arrays,
    /// such as <c>System.Byte[]</c>, or <c>?[]</c> of a type that is not known.
    /// </summary>
    public IReadOnlyList<string> Makes { get; init; } = [];
}

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

    /// <summary>Events that the process could not deliver.</summary>
    public long LostEvents { get; init; }
}
