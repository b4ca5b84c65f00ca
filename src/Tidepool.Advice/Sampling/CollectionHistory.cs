namespace Tidepool.Advice;

/// <summary>A collection that held the process up.</summary>
/// <param name="Seconds">For how long.</param>
/// <param name="IsFull">Whether it was of generation 2.</param>
internal readonly record struct CollectionPause(double Seconds, bool IsFull);

/// <summary>What the collections of a window did.</summary>
internal sealed record CollectionHistory
{
    /// <summary>The runtime's name of the reason that large objects are.</summary>
    public const string LargeReason = "AllocLarge";

    /// <summary>How long they were recorded; 0 where they were not.</summary>
    public double Seconds { get; init; }

    /// <summary>How many there were, by reason.</summary>
    public IReadOnlyDictionary<string, int> Reasons { get; init; } = new Dictionary<string, int>();

    /// <summary>How long they held the process up, each.</summary>
    public IReadOnlyList<CollectionPause> Pauses { get; init; } = [];

    /// <summary>
    /// How many have said what they promoted out of generation 0. One in the background takes in no young generation, and of one at the
    /// end of the window the end may not be seen.
    /// </summary>
    public int YoungCollections { get; init; }

    /// <summary>Bytes that those promoted out of generation 0.</summary>
    public long PromotedBytes { get; init; }

    /// <summary>How many of generation 2 have said what of the large object heap outlived them.</summary>
    public int FullCollections { get; init; }

    /// <summary>Bytes of the large object heap that outlived those.</summary>
    public long LargeSurvivingBytes { get; init; }

    /// <summary>How many there were for a reason, per minute.</summary>
    public double PerMinute(string reason) => Seconds > 0 ? 60 * Reasons.GetValueOrDefault(reason) / Seconds : 0;
}
