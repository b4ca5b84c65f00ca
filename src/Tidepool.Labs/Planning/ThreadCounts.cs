using System.Globalization;

namespace Tidepool.Labs;

/// <summary>
/// With how many threads the labs repeat a loop. A choice of the user travels to the measuring processes in their environment.
/// </summary>
internal static class ThreadCounts
{
    /// <summary>The most threads that can be asked for.</summary>
    public const int Most = 256;

    private const string Variable = "TIDEPOOL_LAB_THREADS";

    private static readonly int[] Powers = [1, 2, 4, 8, 16, 32];

    /// <summary>Eight threads for each core, where a thread often stands in the middle of an operation without a core.</summary>
    public static int Crowd => Math.Min(8 * Environment.ProcessorCount, Most);

    /// <summary>The counts, lowest first: what the user chose, and always 1 and 2, which goals compare; else those of the mode.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="full">What a full run of the lab has too, where the user chose nothing.</param>
    public static int[] Of(LabMode mode, params int[] full) =>
        Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } chosen && Parse(chosen) is { } counts
            ? [.. counts.Union([1, 2]).Order()]
            : [.. Default(mode, Environment.ProcessorCount).Union(mode == LabMode.Full ? full : []).Order()];

    /// <summary>Whether loops run both with a crowd and with one thread for each core.</summary>
    public static bool HasCrowd(LabMode mode) =>
        Of(mode) is var counts && counts.Contains(Crowd) && counts.Contains(Environment.ProcessorCount);

    /// <summary>The counts of a mode: 1 and 2; of the full run 4, 8, 16 and 32 up to the processors, their number, and a crowd.</summary>
    public static int[] Default(LabMode mode, int processors) => mode == LabMode.Quick
        ? [1, 2]
        : [.. Powers.Where(count => count <= Math.Max(2, processors)).Union([processors, Math.Min(8 * processors, Most)]).Order()];

    /// <summary>Reads counts between commas; null when one is not a number from 1 to <see cref="Most"/>.</summary>
    public static int[]? Parse(string text)
    {
        int[] counts = [.. text.Split(',', StringSplitOptions.TrimEntries).Select(ParseOne)];
        return Array.TrueForAll(counts, static count => count is >= 1 and <= Most) ? [.. counts.Distinct()] : null;
    }

    /// <summary>Takes counts for this process and those that it starts.</summary>
    public static void Use(string counts) => Environment.SetEnvironmentVariable(Variable, counts);

    private static int ParseOne(string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int count) ? count : 0;
}
