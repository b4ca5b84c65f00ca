namespace Tidepool;

/// <summary>Whether pools of memory keep anything, read once from <c>TIDEPOOL_MODE</c>.</summary>
internal static class ProcessMode
{
    internal const string Variable = "TIDEPOOL_MODE";

    /// <summary>Whether buffers and objects are made for each rental and given up with it, which shows what pooling saves.</summary>
    internal static bool IsOff { get; } = Parse(Environment.GetEnvironmentVariable(Variable));

    /// <summary>A value that is not understood must not stop a program: it means on, and is said on standard error.</summary>
    internal static bool Parse(string? text)
    {
        string mode = text?.Trim() ?? "";
        if (mode.Equals("off", StringComparison.OrdinalIgnoreCase))
        {
            return true;
        }

        if (mode.Length > 0 && !mode.Equals("on", StringComparison.OrdinalIgnoreCase))
        {
            Console.Error.WriteLine($"Tidepool: {Variable}={text} is neither on nor off; pools are on.");
        }

        return false;
    }
}
