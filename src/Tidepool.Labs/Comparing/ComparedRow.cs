namespace Tidepool.Labs;

/// <summary>A row that has a ratio to the same baseline in both results.</summary>
/// <param name="Lab">The lab.</param>
/// <param name="A">The row of the first result.</param>
/// <param name="B">The row of the second.</param>
internal sealed record ComparedRow(string Lab, ReportRow A, ReportRow B)
{
    /// <summary>The second ratio over the first; above 1 is slower than before.</summary>
    public RatioEstimate Change { get; } = B.Ratio!.Value.Over(A.Ratio!.Value);
}

/// <summary>A row whose ratio only one of two results has.</summary>
/// <param name="Lab">The lab.</param>
/// <param name="Key">The row.</param>
/// <param name="Lacking">The result that lacks it.</param>
/// <param name="Reason">Why, where that is known.</param>
internal sealed record LoneRow(string Lab, WorkloadKey Key, ResultSide Lacking, string Reason);

/// <summary>The first or the second of two results.</summary>
internal enum ResultSide
{
    /// <summary>The first.</summary>
    A,

    /// <summary>The second.</summary>
    B,
}
