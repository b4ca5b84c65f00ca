using System.Diagnostics;

namespace Tidepool;

/// <summary>Where a rental was made, as text: the frames of the caller.</summary>
internal static class RentSite
{
    private const string Own = "   at Tidepool.";
    private static readonly string[] OwnTypes = ["ResourceCore`1", "ResourcePool`1", "KeyedResourcePool`2", "RentSite", "SharedResource`2"];

    internal static StackTrace Capture() => new(skipFrames: 1, fNeedFileInfo: true);

    internal static string Describe(StackTrace site, LeakCapture capture)
    {
        IEnumerable<string> frames = site.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(static frame => frame.TrimEnd('\r'))
            .SkipWhile(static frame => IsOwn(frame));
        return capture == LeakCapture.CallSite ? frames.FirstOrDefault() ?? "   at an unknown place" : string.Join('\n', frames);
    }

    private static bool IsOwn(string frame) =>
        frame.StartsWith(Own, StringComparison.Ordinal) && OwnTypes.Any(type => frame.AsSpan(Own.Length).StartsWith(type, StringComparison.Ordinal));
}
