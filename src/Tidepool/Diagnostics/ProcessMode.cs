namespace Tidepool;

/// <summary>Whether pools of memory keep anything, read once from <c>TIDEPOOL_MODE</c>.</summary>
internal static class ProcessMode
{
    internal const string Variable = "TIDEPOOL_MODE";

    /// <summary>Whether buffers and objects are made for each rental and given up with it, which shows what pooling saves.</summary>
    internal static bool IsOff { get; } = Parse(Environment.GetEnvironmentVariable(Variable));

    /// <summary>Reads a value; one that is not understood means on.</summary>
    internal static bool Parse(string? text) =>
        ProcessSetting.Choose(text, Variable + "=", " is neither on nor off; pools are on.", "on", "off") == 1;
}
