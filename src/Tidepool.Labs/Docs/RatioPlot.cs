using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>Draws the README's rows as bars on a logarithmic axis.</summary>
/// <remarks>
/// Written by hand instead of by the plotting library of the HTML page: the test that compares the committed file must run without Node.js.
/// The picture has a background of its own, and follows the reader's colour scheme where the viewer passes it on.
/// Names stand above their bars, so the text stays readable when a narrow page shrinks the picture.
/// </remarks>
internal static class RatioPlot
{
    private const double Width = 560;

    private const double Left = 24;

    /// <summary>Room after the axis for the numbers.</summary>
    private const double Right = 124;

    private const double Top = 56;

    private const double RowHeight = 46;

    private const double BarHeight = 14;

    private static readonly double[] Ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

    /// <summary>The picture of the first machine's rows.</summary>
    public static string Draw(IReadOnlyList<MachineResults> machines)
    {
        var spans = machines.Count == 0 ? [] : RatioSpan.ForReadme(machines[0]);
        double bottom = Top + (RowHeight * spans.Count);
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"""
            <svg xmlns="http://www.w3.org/2000/svg" width="{Width}" height="{bottom + 40}" viewBox="0 0 {Width} {bottom + 40}"
             role="img" aria-labelledby="title">
            <title id="title">{Escape(Describe(spans))}</title>
            <style>{Style}</style>
            <rect class="card" x="0.5" y="0.5" width="{Width - 1}" height="{bottom + 39}" rx="10"/>
            <text class="head" x="{Left}" y="30">Time of one operation; the usual choice is 1</text>

            """);
        if (spans.Count > 0)
        {
            double[] ticks = TicksAround(spans);
            double Place(double ratio) => Left + ((Width - Left - Right) * Math.Log(ratio / ticks[0]) / Math.Log(ticks[^1] / ticks[0]));
            foreach (double tick in ticks)
            {
                DrawTick(text, tick, Place(tick), bottom);
            }

            for (int i = 0; i < spans.Count; i++)
            {
                DrawRow(text, spans[i], Top + (RowHeight * i), Place);
            }
        }

        return text.Append("</svg>\n").ToString();
    }

    private static string Style { get; } = string.Join(
        ' ',
        ".card { fill: #ffffff; stroke: #d0d7de }",
        "text { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; fill: #1f2328 }",
        ".head, .tick { fill: #59636e }",
        ".tick { font-size: 12px; text-anchor: middle }",
        ".name { font-weight: 600 }",
        ".value { text-anchor: end; font-variant-numeric: tabular-nums }",
        ".grid { stroke: #e4e8ec }",
        ".one { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 4 3 }",
        ".bar { fill: #00788a }",
        "@media (prefers-color-scheme: dark) {",
        ".card { fill: #161b22; stroke: #30363d } text { fill: #e6edf3 } .head, .tick { fill: #9da7b1 }",
        ".grid { stroke: #2a3038 } .one { stroke: #9da7b1 } .bar { fill: #4cc9d9 } }");

    /// <summary>The axis from the tick below the lowest ratio to the one above the highest; 1 is always inside.</summary>
    private static double[] TicksAround(IReadOnlyList<RatioSpan> spans)
    {
        double low = Ticks.LastOrDefault(tick => tick <= spans.Min(span => span.Best), Ticks[0]);
        double high = Ticks.FirstOrDefault(tick => tick >= Math.Max(1, spans.Max(span => span.Worst)), Ticks[^1]);
        return [.. Ticks.Where(tick => tick >= Math.Min(low, 0.5) && tick <= high)];
    }

    private static void DrawTick(StringBuilder text, double tick, double x, double bottom) => text.Append(CultureInfo.InvariantCulture, $"""
        <line class="{(tick == 1 ? "one" : "grid")}" x1="{x:0.#}" y1="{Top - 12}" x2="{x:0.#}" y2="{bottom}"/>
        <text class="tick" x="{x:0.#}" y="{bottom + 20}">{tick}</text>

        """);

    private static void DrawRow(StringBuilder text, RatioSpan span, double y, Func<double, double> place)
    {
        // A bar of one cell, or of equal ones, would have no width.
        double middle = place(Math.Sqrt(span.Best * span.Worst));
        double half = Math.Max(3, (place(span.Worst) - place(span.Best)) / 2);
        text.Append(CultureInfo.InvariantCulture, $"""
            <text class="name" x="{Left}" y="{y + 12}">{Escape(span.Title)}</text>
            <rect class="bar" x="{middle - half:0.#}" y="{y + 20}" width="{2 * half:0.#}" height="{BarHeight}" rx="3"/>
            <text class="value" x="{Width - Left}" y="{y + 32}">{span.Text}</text>

            """);
    }

    private static string Describe(IReadOnlyList<RatioSpan> spans) =>
        "Time over the usual choice's, best .. worst: " + string.Join("; ", spans.Select(span => $"{span.Title} {span.Text}"));

    private static string Escape(string text) =>
        text.Replace("&", "&amp;", StringComparison.Ordinal).Replace("<", "&lt;", StringComparison.Ordinal);
}
