using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Writes numbers in few letters.</summary>
internal static class Quantity
{
    private static readonly string[] Prefixes = ["", "k", "M", "G", "T"];

    /// <summary>Bytes with a decimal prefix: <c>1.2 GB</c>.</summary>
    public static string Bytes(double bytes) => Scale(bytes, " ", "B");

    /// <summary>A count with a decimal prefix: <c>12.3k</c>.</summary>
    public static string Count(double count) => Scale(count, "", "");

    /// <summary>Milliseconds in the unit that suits them: <c>12 ms</c>, <c>3.4 s</c>, <c>5 min</c>.</summary>
    public static string Time(double milliseconds) => milliseconds switch
    {
        < 1000 => Text(milliseconds) + " ms",
        < 120_000 => Text(milliseconds / 1000) + " s",
        < 7_200_000 => Text(milliseconds / 60_000) + " min",
        _ => Text(milliseconds / 3_600_000) + " h",
    };

    /// <summary>A share of one, as a percentage; 100 % only when it is all.</summary>
    public static string Percent(double share) =>
        (share is > 0.999 and < 1 ? 0.999 : share).ToString("0.#%", CultureInfo.InvariantCulture);

    /// <summary>A ratio as the change that it is: <c>+5%</c>, <c>-30.1%</c>, from ten on <c>x12</c>.</summary>
    public static string Change(double ratio) => Math.Abs(ratio) < 10
        ? (ratio - 1).ToString("+0.#%;-0.#%;0%", CultureInfo.InvariantCulture)
        : $"x{Count(ratio)}";

    private static string Scale(double value, string space, string unit)
    {
        int step = 0;
        while (Math.Abs(value) >= 999.5 && step < Prefixes.Length - 1)
        {
            value /= 1000;
            step++;
        }

        return $"{Text(value)}{space}{Prefixes[step]}{unit}";
    }

    /// <summary>Three digits at most, none behind the point for whole numbers.</summary>
    private static string Text(double value) =>
        value.ToString(Math.Abs(value) switch { >= 99.95 => "0", >= 9.995 => "0.#", _ => "0.##" }, CultureInfo.InvariantCulture);
}
