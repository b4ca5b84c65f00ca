namespace Tidepool.Labs;

/// <summary>Makes what the docs show of the committed results: tables and the README's plot.</summary>
/// <remarks>A generated part of a page stands between <c>&lt;!-- generated:NAME --&gt;</c> and <c>&lt;!-- /generated --&gt;</c>.</remarks>
internal static class GeneratedDocs
{
    private const string End = "<!-- /generated -->";

    /// <summary>The files with generated parts and the text they must have.</summary>
    /// <exception cref="InvalidDataException">A file lacks a marker.</exception>
    public static IEnumerable<(string Path, string Text)> Render(string repository)
    {
        var machines = ResultFolder.Read(repository);
        yield return RenderFile(Path.Combine(repository, "README.md"), ("readme-ratios", DocTables.Readme(machines)));
        yield return (Path.Combine(repository, "docs", "results", "readme.svg"), RatioPlot.Draw(machines));
        yield return RenderFile(Path.Combine(repository, "docs", "labs", "README.md"), ("ratios", DocTables.Ratios(machines)));
        yield return RenderFile(Path.Combine(repository, "docs", "labs", "goals.md"), ("goals", MissedGoals.Table(machines)));
        yield return RenderFile(
            Path.Combine(repository, "docs", "connections.md"),
            ("pool-sizes", DocTables.Part("connections", ConnectionsLab.Sizes, machines)),
            ("asking", DocTables.Part("connections", ConnectionsLab.Asking, machines)),
            ("failover", DocTables.Part("connections", ConnectionsLab.Failovers, machines)),
            ("faults", DocTables.Part("connections", ConnectionsLab.Writing, machines)));
        yield return RenderFile(
            Path.Combine(repository, "docs", "fleet.md"),
            ("fleet", DocTables.Part("fleet", FleetLab.Together, machines)),
            ("fleet-sizes", DocTables.Part("fleet", FleetLab.Sizes, machines)));
        foreach (var lab in LabCatalog.All)
        {
            yield return RenderFile(
                Path.Combine(repository, "docs", "labs", $"{lab.Name}.md"),
                ("published", DocTables.Published(lab, machines)),
                ("verdicts", DocTables.Verdicts(lab, machines)),
                ("results", DocTables.Results(lab, machines)));
        }
    }

    /// <summary>The text with one generated part replaced.</summary>
    /// <exception cref="InvalidDataException">The text lacks the markers.</exception>
    public static string Replace(string text, string name, string content)
    {
        string begin = $"<!-- generated:{name} -->";
        int start = text.IndexOf(begin, StringComparison.Ordinal);
        int end = start < 0 ? -1 : text.IndexOf(End, start, StringComparison.Ordinal);
        return end < 0
            ? throw new InvalidDataException($"The markers '{begin}' and '{End}' are missing.")
            : $"{text[..(start + begin.Length)]}\n{content}{text[end..]}";
    }

    private static (string Path, string Text) RenderFile(string path, params ReadOnlySpan<(string Name, string Content)> parts)
    {
        string text = File.ReadAllText(path);
        foreach (var (name, content) in parts)
        {
            text = Replace(text, name, content);
        }

        return (path, text);
    }
}
