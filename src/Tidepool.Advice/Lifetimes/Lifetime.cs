namespace Tidepool.Advice;

/// <summary>What became of a sampled object while collections were followed.</summary>
internal enum Fate
{
    /// <summary>No collection has looked at it.</summary>
    Unseen,

    /// <summary>It was dead when the first collection looked at it.</summary>
    DiedYoung,

    /// <summary>It outlived its first collection and was dead before it reached generation 2.</summary>
    DiedLater,

    /// <summary>It outlived its first collection; the window ended before it died or reached generation 2.</summary>
    Undecided,

    /// <summary>It reached generation 2, or outlived a collection of it on the large or the pinned object heap.</summary>
    Kept,
}

/// <summary>The fate of one object.</summary>
/// <param name="Fate">What became of it.</param>
/// <param name="FirstLook">The number of the first collection that looked at it: those of one collection often share their fate.</param>
internal readonly record struct Lifetime(Fate Fate, long FirstLook);
