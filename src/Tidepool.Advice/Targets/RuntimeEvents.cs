using System.Diagnostics.Tracing;
using System.Globalization;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>
/// The runtime's provider with only those events that are read. A collection writes many more of its keyword, and the process pays for
/// each, with a stack in a session of stacks; runtimes before .NET 10 filter none.
/// </summary>
internal static class RuntimeEvents
{
    /// <summary>The start of a collection.</summary>
    public const uint CollectionStart = 1;

    /// <summary>The end of a pause.</summary>
    public const uint PauseEnd = 3;

    /// <summary>What the collection found on the heap.</summary>
    public const uint HeapStatistics = 4;

    /// <summary>The start of a pause.</summary>
    public const uint PauseStart = 9;

    /// <summary>A sampled allocation.</summary>
    public const uint Sample = 303;

    private const string Name = "Microsoft-Windows-DotNETRuntime";
    private const int FirstThatFilters = 10;

    /// <summary>The provider.</summary>
    /// <param name="target">The process.</param>
    /// <param name="keywords">What the events belong to.</param>
    /// <param name="events">The numbers of those that are read.</param>
    public static EventPipeProvider Of(TargetProcess target, long keywords, params IReadOnlyList<uint> events) =>
        IsFiltering(target.Runtime)
            ? new(Name, EventLevel.Informational, keywords, null, new EventPipeProviderEventFilter(true, events))
            : new(Name, EventLevel.Informational, keywords);

    /// <summary>Whether a runtime of that version filters events by their numbers.</summary>
    internal static bool IsFiltering(string version) =>
        int.TryParse(version.Split('.')[0], CultureInfo.InvariantCulture, out int major) && major >= FirstThatFilters;
}
