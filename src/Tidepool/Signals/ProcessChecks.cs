namespace Tidepool;

/// <summary>The checks of the process, read once from <c>TIDEPOOL_CHECKS</c>.</summary>
internal static class ProcessChecks
{
    internal const string Variable = "TIDEPOOL_CHECKS";

    private static readonly (PoolChecks Mode, bool Stacks) Parsed = Parse(Environment.GetEnvironmentVariable(Variable));

    internal static PoolChecks Mode => Parsed.Mode;

    internal static bool Stacks => Parsed.Stacks;

    /// <summary>A value that is not understood must not stop a program at its first rental: it means the default, and is said on standard error.</summary>
    internal static (PoolChecks Mode, bool Stacks) Parse(string? text)
    {
        switch (text?.Trim().ToLowerInvariant())
        {
            case null or "" or "default":
                return (PoolChecks.Default, false);
            case "off":
                return (PoolChecks.Off, false);
            case "full":
                return (PoolChecks.Full, false);
            case "full,stacks":
                return (PoolChecks.Full, true);
            default:
                Console.Error.WriteLine($"Tidepool: {Variable}={text} is not off, default, full or full,stacks; using default.");
                return (PoolChecks.Default, false);
        }
    }
}
