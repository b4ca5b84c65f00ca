namespace Tidepool;

/// <summary>The checks of the process, read once from <c>TIDEPOOL_CHECKS</c>.</summary>
internal static class ProcessChecks
{
    internal const string Variable = "TIDEPOOL_CHECKS";

    private static readonly (PoolChecks Mode, bool Stacks, bool Logs) Parsed = Parse(Environment.GetEnvironmentVariable(Variable));

    internal static PoolChecks Mode => Parsed.Mode;

    /// <summary>Whether full checks record the place of every rental.</summary>
    internal static bool Stacks => Parsed.Stacks;

    /// <summary>Whether each report is written to standard error.</summary>
    internal static bool Logs => Parsed.Logs;

    /// <summary>
    /// A value that is not understood must not stop a program at its first rental: it means the default, and is said on standard error.
    /// </summary>
    internal static (PoolChecks Mode, bool Stacks, bool Logs) Parse(string? text)
    {
        if (string.IsNullOrWhiteSpace(text))
        {
            return (PoolChecks.Default, false, false);
        }

        PoolChecks? mode = null;
        (bool stacks, bool logs, bool understood) = (false, false, true);
        foreach (string word in text.ToLowerInvariant().Split(',', StringSplitOptions.TrimEntries))
        {
            PoolChecks? named = word switch
            {
                "off" => PoolChecks.Off,
                "default" => PoolChecks.Default,
                "full" => PoolChecks.Full,
                _ => null,
            };
            understood &= named is null ? word is "stacks" or "log" : mode is null;
            mode ??= named;
            stacks |= word == "stacks";
            logs |= word == "log";
        }

        if (understood && (!stacks || mode == PoolChecks.Full))
        {
            return (mode ?? PoolChecks.Default, stacks, logs);
        }

        Console.Error.WriteLine(
            $"Tidepool: {Variable}={text} is not off, default, full or full,stacks, each with ,log or without; using default.");
        return (PoolChecks.Default, false, false);
    }
}
