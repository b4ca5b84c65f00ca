namespace Tidepool.Advice;

/// <summary>What a comparison of two runs says of a rate.</summary>
internal enum ChangeWord
{
    /// <summary>It is higher in the second.</summary>
    Grew,

    /// <summary>It is lower.</summary>
    Shrank,

    /// <summary>It is in the second only.</summary>
    Came,

    /// <summary>It is in the first only.</summary>
    Went,

    /// <summary>The intervals overlap.</summary>
    NoDifference,
}

/// <summary>A rate in two runs. The intervals of change and ratio are the widest that those of the two allow.</summary>
/// <param name="Before">In the first.</param>
/// <param name="After">In the second.</param>
internal readonly record struct RateChange(Interval Before, Interval After)
{
    /// <summary>The second minus the first.</summary>
    public Interval Change => new(After.Low - Before.High, After.Value - Before.Value, After.High - Before.Low);

    /// <summary>The second over the first; null where the first may be 0.</summary>
    public Interval? Ratio => Before.Low > 0
        ? new Interval(After.Low / Before.High, After.Value / Before.Value, After.High / Before.Low)
        : null;

    /// <summary>What it says. A difference that the intervals allow to be none is none.</summary>
    public ChangeWord Word => this switch
    {
        { Change.Low: > 0, Before.Value: 0 } => ChangeWord.Came,
        { Change.Low: > 0 } => ChangeWord.Grew,
        { Change.High: < 0, After.Value: 0 } => ChangeWord.Went,
        { Change.High: < 0 } => ChangeWord.Shrank,
        _ => ChangeWord.NoDifference,
    };

    /// <summary>Whether it grew by more than a share, with the whole interval. From nothing, any growth is.</summary>
    /// <param name="share">0.05 for 5 %.</param>
    public bool IsAbove(double share) => Ratio is { } ratio ? ratio.Low > 1 + share : Word == ChangeWord.Came;
}
