namespace Tidepool.Advice;

/// <summary>How the samples were followed through collections, and what that cost the process.</summary>
internal sealed record LifetimeWindow
{
    /// <summary>How long.</summary>
    public required double Seconds { get; init; }

    /// <summary>The collections that were followed from their start to their end.</summary>
    public int Collections { get; init; }

    /// <summary>The bytes that the process wrote for it.</summary>
    public long StreamBytes { get; init; }

    /// <summary>Whether it ended early, because that was as much as it may write.</summary>
    public bool IsFull { get; init; }

    /// <summary>How many processors the process kept busy before; null where that cannot be read.</summary>
    public double? ProcessorsBefore { get; init; }

    /// <summary>How many meanwhile, while no stacks were taken.</summary>
    public double? ProcessorsWithin { get; init; }

    /// <summary>The share of the time before that collections held the process up.</summary>
    public double PausedBefore { get; init; }

    /// <summary>The share of the time meanwhile.</summary>
    public double PausedWithin { get; init; }

    /// <summary>Events that the process could not deliver: one is enough to make every lifetime unknown.</summary>
    public long LostEvents { get; init; }
}

/// <summary>What became of samples.</summary>
/// <param name="Window">How they were followed.</param>
/// <param name="Lifetimes">The fates, by reference; without those that were not found again.</param>
internal sealed record SurvivalRecording(LifetimeWindow Window, IReadOnlyDictionary<RecordedSample, Lifetime> Lifetimes);
