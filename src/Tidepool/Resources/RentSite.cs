using System.Diagnostics;

namespace Tidepool;

/// <summary>Where a rental was made, as text: the frames of the program, from the first that belongs to it.</summary>
internal static class RentSite
{
    /// <summary>Between the program and the pool: the pools, the base classes of ADO.NET, what starts asynchronous methods.</summary>
    private static readonly string[] Between =
    [
        "Tidepool", "Tidepool.Extensions", "Tidepool.Native", "System.Data.Common", "System.Private.CoreLib",
    ];

    internal static StackTrace Capture() => new(skipFrames: 1, fNeedFileInfo: true);

    internal static string Describe(StackTrace site, LeakCapture capture)
    {
        StackFrame[] frames = site.GetFrames();
        int first = Math.Max(Array.FindIndex(frames, static frame => !CallerStack.IsOf(frame, Between)), 0);
        string text = new StackTrace(frames[first..]).ToString().ReplaceLineEndings("\n").TrimEnd('\n');
        return text.Length == 0 ? "   at an unknown place" : capture == LeakCapture.CallSite ? text.Split('\n')[0] : text;
    }
}
