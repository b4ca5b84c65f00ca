using System.Globalization;

namespace Tidepool.Labs;

/// <summary>Numbers as people read them: three digits and a unit.</summary>
internal static class NumberText
{
    /// <summary>What stands where there is no number.</summary>
    public const string None = "-";

    /// <summary>What stands in a row that has no result.</summary>
    public const string NotMeasured = "not measured";

    /// <summary>Ends of metric names that say how the value is shown.</summary>
    private static readonly string[] Units = ["_B", "_MiB", "_ns", "_us", "_count", "_id", "_percent"];

    /// <summary>A time given in nanoseconds.</summary>
    public static string Time(double? nanoseconds) => nanoseconds switch
    {
        null => None,
        < 0 => "-" + Time(-nanoseconds),
        < 1e3 => $"{Digits(nanoseconds.Value)} ns",
        < 1e6 => $"{Digits(nanoseconds.Value / 1e3)} µs",
        < 1e9 => $"{Digits(nanoseconds.Value / 1e6)} ms",
        _ => $"{Digits(nanoseconds.Value / 1e9)} s",
    };

    /// <summary>An amount of memory given in bytes.</summary>
    public static string Bytes(double? bytes) => bytes switch
    {
        null => None,
        0 => "0 B",
        < 0 => "-" + Bytes(-bytes),
        < 1024 => $"{Digits(bytes.Value)} B",
        < 1 << 20 => $"{Digits(bytes.Value / 1024)} KiB",
        < 1 << 30 => $"{Digits(bytes.Value / (1 << 20))} MiB",
        _ => $"{Digits(bytes.Value / (1 << 30))} GiB",
    };

    /// <summary>How words are to be read that stand in place of a ratio.</summary>
    public const string RatioWords =
        "Ratios are of paired rounds; below 1.00 is faster. Times stand in these ratios to the median of the usual choice. "
            + "no difference: the whole 95 % interval lies within 5 % of 1.00. undecided: it includes 1.00 and is wider.";

    /// <summary>A ratio, or the word that says why there is none; an undecided one says how wide its interval is.</summary>
    public static string Ratio(RatioEstimate? ratio) => ratio switch
    {
        null => None,
        { Word: RatioWord.NoDifference } => "no difference",
        { Word: RatioWord.Undecided } => $"undecided, {Interval(ratio)}",
        _ => Factor(ratio.Value.Value),
    };

    /// <summary>A ratio, or the word that says why there is none; for a place beside its interval.</summary>
    public static string ShortRatio(RatioEstimate? ratio) => ratio is { Word: RatioWord.Undecided } ? "undecided" : Ratio(ratio);

    /// <summary>A ratio with its word, for a line that stands alone.</summary>
    public static string SpokenRatio(RatioEstimate? ratio) => ratio switch
    {
        { Word: RatioWord.Faster } => $"{Ratio(ratio)} faster",
        { Word: RatioWord.Slower } => $"{Ratio(ratio)} slower",
        _ => Ratio(ratio),
    };

    /// <summary>A ratio or a sign, for many narrow columns: <see cref="Marks"/>.</summary>
    public static string Mark(RatioEstimate? ratio) => ratio switch
    {
        { Word: RatioWord.NoDifference } => "=",
        { Word: RatioWord.Undecided } => "?",
        _ => Ratio(ratio),
    };

    /// <summary>What the signs mean.</summary>
    public const string Marks = "= no difference, ? undecided";

    /// <summary>The interval of a ratio.</summary>
    public static string Interval(RatioEstimate? ratio) =>
        ratio is { } known ? $"{Factor(known.Low)} .. {Factor(known.High)}" : None;

    /// <summary>The value or the limit of a bar.</summary>
    public static string Value(Bar bar, double? value) =>
        value is not { } number ? None : bar.Kind == BarKind.Ratio ? Factor(number) : Digits(number);

    /// <summary>A factor with two decimals, fewer when it is large.</summary>
    public static string Factor(double factor) => factor switch
    {
        > 0 and < 0.005 => "<0.01",
        < 10 => factor.ToString("0.00", CultureInfo.InvariantCulture),
        < 100 => factor.ToString("0.0", CultureInfo.InvariantCulture),
        _ => factor.ToString("0", CultureInfo.InvariantCulture),
    };

    /// <summary>Collections per 1000 operations of the three generations.</summary>
    public static string Collections(ReportRow row) => row.Gen0 is null ? None
        : row.Gen0 == 0 ? "0"
        : $"{Digits(row.Gen0.Value)} / {Digits(row.Gen1!.Value)} / {Digits(row.Gen2!.Value)}";

    /// <summary>A metric by the unit in its name.</summary>
    public static string Metric(string name, double value) => UnitOf(name) switch
    {
        "_B" => Bytes(value),
        "_MiB" => Bytes(value * (1 << 20)),
        "_ns" => Time(value),
        "_us" => Time(value * 1000),
        "_count" or "_id" => value.ToString("0", CultureInfo.InvariantCulture),
        "_percent" => $"{Digits(value)} %",
        _ => Digits(value),
    };

    /// <summary>The heading of a metric: its name without the unit.</summary>
    public static string MetricName(string name) => name[..^UnitOf(name).Length].Replace('_', ' ');

    /// <summary>A number with about three digits.</summary>
    public static string Digits(double value) => Math.Abs(value) switch
    {
        0 => "0",
        < 0.001 => "<0.001",
        < 1 => value.ToString("0.###", CultureInfo.InvariantCulture),
        < 10 => value.ToString("0.00", CultureInfo.InvariantCulture),
        < 100 => value.ToString("0.0", CultureInfo.InvariantCulture),
        _ => value.ToString("0", CultureInfo.InvariantCulture),
    };

    private static string UnitOf(string metric) =>
        Array.Find(Units, unit => metric.EndsWith(unit, StringComparison.Ordinal)) ?? "";
}
