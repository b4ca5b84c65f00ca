using System.Globalization;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>A published experiment: its rows as they were printed.</summary>
internal sealed record ClassicExperiment(
    string Lab, string Name, string Environment, IReadOnlyList<string> Columns, IReadOnlyList<IReadOnlyDictionary<string, string>> Rows);

/// <summary>Where the rows of a published experiment are in a lab's grid.</summary>
/// <param name="Experiment">The experiment's name.</param>
/// <param name="Match">The workload of ours or of a rival that repeats a published row.</param>
internal sealed record ClassicMatch(string Experiment, Func<IReadOnlyDictionary<string, string>, WorkloadKey> Match)
{
    /// <summary>The column with the published time, in the unit that its name ends with.</summary>
    public required string Time { get; init; }

    /// <summary>How many operations of ours the published time is for.</summary>
    public double Operations { get; init; } = 1;

    /// <summary>The column with the published allocation.</summary>
    public string Allocated { get; init; } = "allocated_B";

    /// <summary>What makes bytes per operation of the published allocation.</summary>
    public double AllocatedScale { get; init; } = 1;

    /// <summary>
    /// The column and the subject that the published rows compare with, when a row has the times of both; null when
    /// each subject has rows of its own.
    /// </summary>
    public (string Time, string Subject)? Rival { get; init; }

    /// <summary>The columns that name the cell; none when the experiment has one cell.</summary>
    public IReadOnlyList<string> Cell { get; init; } = [];

    /// <summary>Subjects of ours to show in each cell, when the published rows have none that corresponds.</summary>
    public IReadOnlyList<string> Ours { get; init; } = [];
}

/// <summary>The published figures of the classic experiments.</summary>
internal static class Classics
{
    /// <summary>All experiments, in the order of the file.</summary>
    public static IReadOnlyList<ClassicExperiment> All { get; } = Read();

    private static ClassicExperiment[] Read()
    {
        using var stream = typeof(Classics).Assembly.GetManifestResourceStream("classic.json")
            ?? throw new InvalidOperationException("The assembly lacks 'classic.json'.");
        using var document = JsonDocument.Parse(stream);
        return [.. document.RootElement.GetProperty("experiments").EnumerateArray().Select(ReadExperiment)];
    }

    private static ClassicExperiment ReadExperiment(JsonElement experiment)
    {
        string[] columns = [.. experiment.GetProperty("columns").EnumerateArray().Select(Text)];
        return new(
            Text(experiment.GetProperty("lab")),
            Text(experiment.GetProperty("name")),
            Text(experiment.GetProperty("environment")),
            columns,
            [
                .. experiment.GetProperty("rows").EnumerateArray().Select(row =>
                    (IReadOnlyDictionary<string, string>)columns.Zip(row.EnumerateArray(), (column, value) => (column, Text(value)))
                        .ToDictionary(pair => pair.column, pair => pair.Item2)),
            ]);
    }

    private static string Text(JsonElement value) => value.ValueKind == JsonValueKind.Number
        ? value.GetDouble().ToString("0.###", CultureInfo.InvariantCulture)
        : value.GetString()!;
}
