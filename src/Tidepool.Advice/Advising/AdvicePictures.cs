using System.Globalization;
using System.Text;
using Tidepool.Pages;

namespace Tidepool.Advice;

/// <summary>The pictures of a report's page: drawn as SVG, so that they need no script and are there on paper.</summary>
internal static class AdvicePictures
{
    /// <summary>The most bars or points of a picture.</summary>
    internal const int MostPoints = 200;

    private const int StepsPerDoubling = 4;
    private const double Height = 100;

    /// <summary>How many objects there are of each size, in bars of a quarter of a doubling, with the suggested classes as lines.</summary>
    public static string Sizes(IReadOnlyList<(long Size, double Objects)> sizes, IReadOnlyList<long> classes)
    {
        if (sizes.Count < 2)
        {
            return "";
        }

        int first = StepOf(sizes[0].Size);
        int steps = StepOf(sizes[^1].Size) - first + 1;
        if (steps > MostPoints)
        {
            return "";
        }

        var objects = new double[steps];
        foreach ((long size, double count) in sizes)
        {
            objects[StepOf(size) - first] += count;
        }

        double most = objects.Max();
        var svg = new StringBuilder();
        svg.Append($"<div class=\"chart\"><svg class=\"bars\" viewBox=\"0 0 {steps} {Height}\" preserveAspectRatio=\"none\" role=\"img\" ");
        svg.Append("aria-label=\"How many objects there are of each size\">");
        for (int i = 0; i < steps; i++)
        {
            double height = Height * objects[i] / most;
            svg.Append(CultureInfo.InvariantCulture, $"<rect x=\"{i + 0.1:0.#}\" y=\"{Height - height:0.#}\" width=\"0.8\" ");
            svg.Append(CultureInfo.InvariantCulture, $"height=\"{height:0.#}\"/>");
        }

        foreach (long length in classes)
        {
            double place = Math.Clamp(ExactStep(length + TypeRules.ArrayHeader) - first, 0, steps);
            svg.Append(CultureInfo.InvariantCulture, $"<path class=\"class\" d=\"M{place:0.##} 0V{Height}\"/>");
        }

        return svg.Append("</svg><div class=\"ends\">").Append($"<span>{Quantity.Bytes(sizes[0].Size)}</span>")
            .Append("<span>objects by size, logarithmic; lines: classes</span>")
            .Append($"<span>{Quantity.Bytes(sizes[^1].Size)}</span></div></div>\n").ToString();
    }

    /// <summary>The hit rate for each number of places.</summary>
    public static string HitRates(IReadOnlyList<PlaceRate>? rates)
    {
        if (rates is not { Count: > 1 })
        {
            return "";
        }

        PlaceRate[] points = [.. Thin(rates)];
        double last = Place(points[^1]);
        double first = Place(points[0]);
        var svg = new StringBuilder();
        svg.Append($"<div class=\"chart\"><svg class=\"curve\" viewBox=\"0 -2 {Height} {Height + 4}\" preserveAspectRatio=\"none\" ");
        svg.Append("role=\"img\" aria-label=\"Hit rate by places\"><path d=\"");
        svg.AppendJoin(' ', points.Select((point, index) => string.Create(
            CultureInfo.InvariantCulture,
            $"{(index == 0 ? 'M' : 'L')}{Height * (Place(point) - first) / (last - first):0.##} {Height * (1 - point.HitRate):0.##}")));
        return svg.Append("\"/></svg><div class=\"ends\">")
            .Append($"<span>{points[0].Places} places: {Quantity.Percent(points[0].HitRate)}</span><span>hit rate, 0 to 100 %</span>")
            .Append($"<span>{points[^1].Places} places: {Quantity.Percent(points[^1].HitRate)}</span></div></div>\n").ToString();
    }

    /// <summary>Evenly spaced points, the first and the last among them.</summary>
    private static IEnumerable<PlaceRate> Thin(IReadOnlyList<PlaceRate> rates)
    {
        int points = Math.Min(rates.Count, MostPoints);
        return Enumerable.Range(0, points).Select(i => rates[(int)((long)i * (rates.Count - 1) / (points - 1))]);
    }

    private static double Place(PlaceRate rate) => Math.Log2(1 + rate.Places);

    private static int StepOf(long size) => (int)Math.Floor(ExactStep(size));

    private static double ExactStep(long size) => StepsPerDoubling * Math.Log2(Math.Max(size, 1));
}

/// <summary>A logarithmic scale of rates in bytes that dots stand on.</summary>
/// <param name="Least">The power of ten at its left end.</param>
/// <param name="Most">At its right end.</param>
internal readonly record struct LogScale(int Least, int Most)
{
    private const int MostTicks = 5;

    /// <summary>A scale of whole powers of ten that holds all intervals.</summary>
    public static LogScale Of(IEnumerable<Interval> intervals)
    {
        var all = intervals.ToArray();
        int least = (int)Math.Floor(Math.Log10(Math.Max(1, all.Min(static one => one.Low))));
        return new LogScale(least, Math.Max(least + 1, (int)Math.Ceiling(Math.Log10(Math.Max(1, all.Max(static one => one.High))))));
    }

    /// <summary>The numbers below the scale.</summary>
    public string Ticks()
    {
        var scale = this;
        int step = (Most - Least + MostTicks - 1) / MostTicks;
        var labels = Enumerable.Range(Least, Most - Least + 1).Where(power => (power - scale.Least) % step == 0)
            .Select(power => $"<span style=\"left:{scale.Place(Math.Pow(10, power))}%\">{Quantity.Bytes(Math.Pow(10, power))}</span>");
        return $"<div class=\"ticks\" aria-hidden=\"true\">{string.Concat(labels)}</div>";
    }

    /// <summary>A dot with its interval.</summary>
    public string Dot(Interval rate, string about) =>
        "<svg class=\"dots\" width=\"100%\" height=\"18\" role=\"img\"><line class=\"base\" x1=\"0\" y1=\"9\" x2=\"100%\" y2=\"9\"/>"
            + $"<g><title>{HtmlPage.Encode(about)}</title><line x1=\"{Place(rate.Low)}%\" y1=\"9\" x2=\"{Place(rate.High)}%\" y2=\"9\"/>"
            + $"<circle cx=\"{Place(rate.Value)}%\" cy=\"9\" r=\"4.5\"/></g></svg>";

    private string Place(double value)
    {
        double part = (Math.Log10(Math.Max(1, value)) - Least) / (Most - Least);
        return (4 + 92 * Math.Clamp(part, 0, 1)).ToString("0.##", CultureInfo.InvariantCulture);
    }
}
