namespace Tidepool.Labs;

/// <summary>One part of a lab in one line: our time over the usual choice's, in the best and in the worst cell.</summary>
/// <param name="Lab">The lab.</param>
/// <param name="Part">The title of the part.</param>
/// <param name="Usual">The subject that the ratios refer to.</param>
/// <param name="Ours">The subject of ours.</param>
/// <param name="Cells">How many cells have a ratio.</param>
/// <param name="Best">The lowest ratio.</param>
/// <param name="Worst">The highest ratio.</param>
internal sealed record RatioSpan(ILab Lab, string Part, string Usual, string Ours, int Cells, double Best, double Worst)
{
    /// <summary>One part for each kind of pool, whatever its ratio is; the name that the README gives it.</summary>
    private static readonly (string Lab, string Part, string Title)[] Readme =
    [
        ("arrays", "One buffer at a time", "One buffer, one thread"),
        ("objects", "One thread", "One object, one thread"),
        ("streams", "Short streams", "Short streams in memory"),
        ("connections", "Open, ask, dispose, PostgreSQL", "A query on a pooled connection"),
        ("native", "In groups", "malloc and free in C++"),
    ];

    /// <summary>The name in the README; elsewhere the part's own.</summary>
    public string Title { get; private init; } = Part;

    /// <summary>The best and the worst ratio, or the only one.</summary>
    public string Text => Cells == 1 ? NumberText.Factor(Best) : $"{NumberText.Factor(Best)} .. {NumberText.Factor(Worst)}";

    /// <summary>Every part that has a ratio, in the order of the labs.</summary>
    public static IEnumerable<RatioSpan> AllOf(MachineResults machine) =>
        from lab in LabCatalog.All
        where machine.Labs.ContainsKey(lab.Name)
        from part in Headlines.Of(lab, DocTables.PlanOf(lab), machine.Labs[lab.Name].Lab).GroupBy(headline => headline.Section)
        let ratios = part.Select(headline => headline.Ours.Ratio!.Value.Value).ToArray()
        let first = part.First()
        select new RatioSpan(lab, part.Key, first.Usual.Subject, first.Ours.Subject, ratios.Length, ratios.Min(), ratios.Max());

    /// <summary>The parts that the README shows, as far as they were measured.</summary>
    public static IReadOnlyList<RatioSpan> ForReadme(MachineResults machine)
    {
        var all = AllOf(machine).ToDictionary(span => (span.Lab.Name, span.Part));
        return [
            .. from row in Readme
               where all.ContainsKey((row.Lab, row.Part))
               select all[(row.Lab, row.Part)] with { Title = row.Title }
        ];
    }
}
