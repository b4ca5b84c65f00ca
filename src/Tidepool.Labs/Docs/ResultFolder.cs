namespace Tidepool.Labs;

/// <summary>The committed results of one machine, by lab.</summary>
internal sealed record MachineResults(string Machine, IReadOnlyDictionary<string, (ResultFile File, ReportLab Lab)> Labs);

/// <summary>Reads <c>docs/results/&lt;machine&gt;/*.json</c>.</summary>
internal static class ResultFolder
{
    /// <summary>The results of every machine, the one measured last first; a later file of a machine wins over an earlier one.</summary>
    public static IReadOnlyList<MachineResults> Read(string repository)
    {
        var folder = new DirectoryInfo(Path.Combine(repository, "docs", "results"));
        return folder.Exists
            ? [
                .. folder.EnumerateDirectories()
                    .OrderBy(machine => machine.Name, StringComparer.Ordinal)
                    .Select(ReadMachine)
                    .Where(machine => machine.Labs.Count > 0)
                    .OrderByDescending(machine => machine.Labs.Values.Max(lab => lab.File.Time))
            ]
            : [];
    }

    private static MachineResults ReadMachine(DirectoryInfo machine)
    {
        var labs = new Dictionary<string, (ResultFile, ReportLab)>();
        foreach (var path in machine.EnumerateFiles("*.json").OrderBy(file => file.Name, StringComparer.Ordinal))
        {
            var file = ResultJson.Read(File.ReadAllText(path.FullName));
            foreach (var lab in file.Labs)
            {
                labs[lab.Name] = (file, lab);
            }
        }

        return new(machine.Name, labs);
    }
}
