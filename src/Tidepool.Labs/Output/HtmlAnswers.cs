using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>What the page opens with: an answer of each lab, and beside it a picture of its comparisons on one scale.</summary>
/// <remarks>The picture is drawn here and not by the plotting library, so that it is there without Node.js, scripts and on paper.</remarks>
internal static class HtmlAnswers
{
    private const double LeastRatio = 0.01;
    private const double MostRatio = 10;

    private static readonly double[] Ticks = [0.01, 0.1, 1, 10];

    /// <summary>Writes the section.</summary>
    public static void Write(StringBuilder page, LabReport report, IReadOnlyList<ReportLab> labs)
    {
        LabAnswer[] answers = [.. report.Labs.Zip(labs).Select(pair => Answers.Of(pair.First.Lab, pair.First.Plan, pair.Second))];
        page.Append("<section id=\"answers\">\n<div class=\"answers\">\n");
        if (answers.Any(answer => answer.Groups.Count > 0))
        {
            WriteScale(page);
        }

        foreach (var (lab, answer) in labs.Zip(answers))
        {
            page.Append(
                $"<div class=\"answer\"><div class=\"who\"><a href=\"#{Encode(lab.Name)}\">{Encode(lab.Name)}</a> {Lead(answer)}</div>\n");
            page.Append($"<div class=\"said\">{Sentence(answer)}{WrongCounts(lab)}</div>\n<div class=\"picture\">");
            foreach (var group in answer.Groups)
            {
                WriteGroup(page, answer.Subject, group);
            }

            page.Append(answer.Groups.Count > 0 ? TickLabels() : "").Append("</div></div>\n");
        }

        page.Append("</div>\n</section>\n");
    }

    /// <summary>The first word as a coloured label.</summary>
    public static string Lead(LabAnswer answer) => $"<span class=\"lead {ClassOf(answer.Word)}\">{answer.Lead}</span>";

    /// <summary>The sentence after the first word.</summary>
    public static string Sentence(LabAnswer answer) => string.Concat(answer.Pieces()
        .Select(piece => piece.IsName ? $"<b>{HtmlReport.EncodeName(piece.Text)}</b>" : Encode(piece.Text)));

    private static string WrongCounts(ReportLab lab) => string.Concat(Answers.WrongCounts(lab).Select(wrong =>
        $"<div class=\"wrong\">Wrong count: {Encode(wrong.Bar.Name)}; it is {NumberText.Value(wrong.Bar, wrong.Value)}.</div>"));

    private static void WriteScale(StringBuilder page) => page.Append(
        "<div class=\"answer scale\"><div class=\"said\">Each dot: the pool's time over that of the row beside it, with its 95&nbsp;% "
            + "interval; logarithmic scale. Green is faster, red slower, grey no difference, a ring undecided; the word is about the first "
            + "row.</div><div class=\"picture\">"
            + "<div class=\"group\"><div class=\"beside\"></div><div><div class=\"ways\"><span>&larr; faster</span>"
            + $"<span>slower &rarr;</span></div>{TickLabels()}</div></div></div></div>\n");

    private static string TickLabels()
    {
        var labels = Ticks.Select(tick => string.Create(
            CultureInfo.InvariantCulture, $"<span style=\"left:{Place(tick)}%\">{tick}</span>"));
        return $"<div class=\"ticks\" aria-hidden=\"true\">{string.Concat(labels)}</div>";
    }

    private static void WriteGroup(StringBuilder page, string subject, IGrouping<string, AnswerComparison> group)
    {
        double span = double.Parse(Place(1), CultureInfo.InvariantCulture);
        string other = Encode(group.Key);
        page.Append($"<div class=\"group\"><div class=\"beside\" title=\"{other}\">{other}</div>");
        page.Append(
            $"<svg class=\"dots\" width=\"100%\" height=\"18\" role=\"img\" aria-label=\"{Encode($"{subject} beside {group.Key}")}\">");
        page.Append("<line class=\"base\" x1=\"0\" y1=\"9\" x2=\"100%\" y2=\"9\"/>");
        page.Append(CultureInfo.InvariantCulture, $"<line class=\"one\" x1=\"{span}%\" y1=\"0\" x2=\"{span}%\" y2=\"18\"/>");
        foreach (AnswerComparison comparison in group)
        {
            RatioEstimate ratio = comparison.Ratio;
            page.Append(
                $"<g class=\"{ClassOf(ratio.Word)}\"><title>{Encode($"{comparison.Part}: {comparison.Cell}: {Describe(ratio)}")}</title>");
            page.Append($"<line x1=\"{Place(ratio.Low)}%\" y1=\"9\" x2=\"{Place(ratio.High)}%\" y2=\"9\"/>");
            page.Append($"<circle cx=\"{Place(ratio.Value)}%\" cy=\"9\" r=\"4.5\"/></g>");
        }

        page.Append("</svg></div>");
    }

    private static string Describe(RatioEstimate ratio) =>
        $"{NumberText.Factor(ratio.Value)} ({NumberText.Interval(ratio)}), {WordOf(ratio.Word)}";

    private static string WordOf(RatioWord word) => word switch
    {
        RatioWord.Faster => "faster",
        RatioWord.Slower => "slower",
        RatioWord.NoDifference => "no difference",
        _ => "undecided",
    };

    /// <summary>Where a ratio stands, in per cent of the width; what is beyond the scale stands at its end.</summary>
    private static string Place(double ratio)
    {
        double part = Math.Log(Math.Clamp(ratio, LeastRatio, MostRatio) / LeastRatio) / Math.Log(MostRatio / LeastRatio);
        return (2 + (96 * part)).ToString("0.##", CultureInfo.InvariantCulture);
    }

    private static string ClassOf(RatioWord word) => WordOf(word).Replace(' ', '-');

    private static string ClassOf(AnswerWord word) => word switch
    {
        AnswerWord.Pays or AnswerWord.PaysMostly => "good",
        AnswerWord.DoesNotPay => "bad",
        AnswerWord.NotMeasured or AnswerWord.Counted => "none",
        _ => "open",
    };

    private static string Encode(string text) => HtmlReport.Encode(text);
}
