namespace Tidepool.Labs;

/// <summary>The first word of an answer.</summary>
internal enum AnswerWord
{
    /// <summary>Faster in every comparison.</summary>
    Pays,

    /// <summary>Faster in more than half of them.</summary>
    PaysMostly,

    /// <summary>Faster in some, slower in others.</summary>
    Depends,

    /// <summary>Neither, and most intervals are narrow.</summary>
    NoDifference,

    /// <summary>Slower in more than half of them.</summary>
    DoesNotPay,

    /// <summary>Neither, and most intervals are wide.</summary>
    Undecided,

    /// <summary>Nothing was compared; exact counts were taken.</summary>
    Counted,

    /// <summary>Nothing was measured.</summary>
    NotMeasured,
}

/// <summary>The time of the lab's pool over that of another subject in the same cell.</summary>
/// <param name="Part">The title of the part of the lab.</param>
/// <param name="Cell">What tells the cell from the others of its part.</param>
/// <param name="Other">The subject that is compared with.</param>
/// <param name="Ratio">Below 1 the pool is faster.</param>
internal sealed record AnswerComparison(string Part, string Cell, string Other, RatioEstimate Ratio);

/// <summary>What a lab has found, for a reader who asks whether a pool pays.</summary>
/// <param name="Word">The first word.</param>
/// <param name="Subject">The pool that is spoken of.</param>
/// <param name="Groups">The comparisons by what the pool is compared with; the first decides the word.</param>
internal sealed record LabAnswer(AnswerWord Word, string Subject, IReadOnlyList<IGrouping<string, AnswerComparison>> Groups)
{
    /// <summary>What is said where nothing was compared.</summary>
    public string Note { get; init; } = "";

    /// <summary>The first word as it is printed.</summary>
    public string Lead => Word switch
    {
        AnswerWord.Pays => "Pays",
        AnswerWord.PaysMostly => "Pays mostly",
        AnswerWord.Depends => "Depends",
        AnswerWord.NoDifference => "No difference",
        AnswerWord.DoesNotPay => "Does not pay",
        AnswerWord.Undecided => "Undecided",
        AnswerWord.Counted => "Counted",
        _ => "Not measured",
    };

    /// <summary>The sentence after the first word, in pieces: names of subjects, and what stands between them.</summary>
    public IEnumerable<(string Text, bool IsName)> Pieces()
    {
        if (Groups.Count == 0)
        {
            yield return (Note, false);
            yield break;
        }

        yield return (Subject, true);
        foreach (var (place, group) in Groups.Index())
        {
            yield return ($"{(place == 0 ? " takes " : " ")}{Span(group)}{(place == 0 ? " of the time of " : " of ")}", false);
            yield return (group.Key, true);
            string end = (Groups.Count - place) switch { 1 => ".", 2 => " and", _ => "," };
            yield return ($" ({Outcomes([.. group], place == 0)}){end}", false);
        }
    }

    /// <summary>The whole sentence as plain text.</summary>
    public string Text => $"{Lead}. {string.Concat(Pieces().Select(piece => piece.Text))}";

    /// <summary>The first word for comparisons.</summary>
    public static AnswerWord WordOf(IReadOnlyCollection<AnswerComparison> compared)
    {
        var words = compared.ToLookup(comparison => comparison.Ratio.Word);
        int faster = words[RatioWord.Faster].Count();
        int slower = words[RatioWord.Slower].Count();
        return faster == compared.Count ? AnswerWord.Pays
            : 2 * faster > compared.Count ? AnswerWord.PaysMostly
            : 2 * slower > compared.Count ? AnswerWord.DoesNotPay
            : faster + slower > 0 ? AnswerWord.Depends
            : 2 * words[RatioWord.NoDifference].Count() >= compared.Count ? AnswerWord.NoDifference
            : AnswerWord.Undecided;
    }

    private static string Span(IEnumerable<AnswerComparison> compared)
    {
        double[] ratios = [.. compared.Select(comparison => comparison.Ratio.Value).Order()];
        string best = NumberText.Factor(ratios[0]);
        string worst = NumberText.Factor(ratios[^1]);
        return best == worst ? best : $"{best} to {worst}";
    }

    private static string Outcomes(AnswerComparison[] compared, bool isFirst)
    {
        (RatioWord Word, string Text)[] words =
        [
            (RatioWord.Faster, "faster"), (RatioWord.Slower, "slower"), (RatioWord.NoDifference, "no difference"),
            (RatioWord.Undecided, "undecided"),
        ];
        var found = words.Select(word => (word.Text, Count: compared.Count(comparison => comparison.Ratio.Word == word.Word)))
            .Where(word => word.Count > 0)
            .ToArray();
        string comparisons = isFirst ? " comparisons" : "";
        return (found.Length, compared.Length) switch
        {
            (_, 1) => found[0].Text,
            (1, 2) => $"{found[0].Text} in both{comparisons}",
            (1, var all) => $"{found[0].Text} in all {all}{comparisons}",
            (_, var all) => $"{found[0].Text} in {found[0].Count} of {all}{comparisons}"
                + string.Concat(found.Skip(1).Select(word => $", {word.Text} in {word.Count}")),
        };
    }
}
