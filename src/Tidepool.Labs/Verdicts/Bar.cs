namespace Tidepool.Labs;

/// <summary>What kind of number a bar limits; it decides when a failure sets the exit code.</summary>
internal enum BarKind
{
    /// <summary>A ratio of times: uncertain, fails the run only with <c>--full</c> or <c>--strict</c>.</summary>
    Ratio,

    /// <summary>An exact count (bytes, buffers, sessions): fails every run.</summary>
    Count,
}

/// <summary>A limit that a lab must meet.</summary>
/// <param name="Id">Stable name, used in results and docs.</param>
/// <param name="Row">The row of the design's table of bars that it belongs to.</param>
/// <param name="Name">What must hold, in words.</param>
/// <param name="Kind">Ratio or count.</param>
/// <param name="Limit">Highest value allowed.</param>
internal sealed record Bar(string Id, string Row, string Name, BarKind Kind, double Limit)
{
    /// <summary>
    /// Rejects a wider interval that ends within this distance of the limit; null accepts any. A limit near parity needs one: a wide
    /// interval that ends just within it would say little.
    /// </summary>
    public double? Width { get; init; }
}

/// <summary>Outcome of a bar.</summary>
internal enum VerdictState
{
    /// <summary>Met: the whole interval is within the limit.</summary>
    Pass,

    /// <summary>Not met: the whole interval is beyond the limit.</summary>
    Fail,

    /// <summary>The limit lies inside the interval, or the interval is wider than the bar allows, also after more rounds.</summary>
    Unclear,

    /// <summary>A subject is missing, or the run was stopped before it.</summary>
    NotRun,
}

/// <summary>A bar with its outcome.</summary>
/// <param name="Bar">The bar.</param>
/// <param name="State">The outcome.</param>
/// <param name="Value">The number that was compared, or null when there is none.</param>
/// <param name="Detail">How the number came about.</param>
internal sealed record Verdict(Bar Bar, VerdictState State, double? Value, string Detail)
{
    /// <summary>
    /// The state as a reader sees it. An exact count passes or fails on every machine; a goal of the authors is met or missed.
    /// </summary>
    public string Word => State switch
    {
        VerdictState.Pass => Bar.Kind == BarKind.Count ? "PASS" : "met",
        VerdictState.Fail => Bar.Kind == BarKind.Count ? "FAIL" : "missed",
        VerdictState.Unclear => "undecided",
        _ => NumberText.NotMeasured,
    };

    /// <summary>The state as it is written in results.</summary>
    public string StateText => State switch
    {
        VerdictState.Pass => "PASS",
        VerdictState.Fail => "FAIL",
        VerdictState.Unclear => "UNCLEAR",
        _ => "NOT RUN",
    };
}
