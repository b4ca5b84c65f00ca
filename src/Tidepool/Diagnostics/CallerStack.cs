using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// Shows a stack as its reader wants it: from the caller of the library to the program's first frame, with files and lines.
/// </summary>
internal static class CallerStack
{
    private static readonly string[] Own = ["Tidepool", "Tidepool.Native", "Tidepool.Extensions"];

    /// <summary>The place, without files and lines: they are looked up when a report is written, which is slow.</summary>
    internal static StackTrace Capture() => new(skipFrames: 1, fNeedFileInfo: false);

    /// <summary>The frames as text: without the library's own at the start, and without the thread pool's at the end.</summary>
    internal static string Describe(StackTrace stack)
    {
        StackFrame[] frames = stack.GetFrames();
        int first = 0;
        while (first < frames.Length && IsOf(frames[first], Own))
        {
            first++;
        }

        int end = frames.Length;
        while (end > first && IsThreading(frames[end - 1]))
        {
            end--;
        }

        // A caller without frames of its own: better the whole stack than none.
        ReadOnlySpan<StackFrame> shown = first == end ? frames : frames.AsSpan(first..end);
        var lines = new List<string>();
        foreach (StackFrame frame in shown)
        {
            lines.Add($"{new StackTrace(frame).ToString().TrimEnd()}{SourceLines.Find(frame)}");
        }

        return string.Join('\n', lines);
    }

    /// <summary>Whether a frame is of one of the assemblies. Told by the assembly: programs may have any namespace.</summary>
    internal static bool IsOf(StackFrame frame, ReadOnlySpan<string> assemblies)
    {
        if (DiagnosticMethodInfo.Create(frame)?.DeclaringAssemblyName is not { } assembly)
        {
            return false;
        }

        int end = assembly.IndexOf(',', StringComparison.Ordinal);
        return assemblies.Contains(end < 0 ? assembly : assembly[..end]);
    }

    private static bool IsThreading(StackFrame frame)
    {
        string type = DiagnosticMethodInfo.Create(frame)?.DeclaringTypeName ?? string.Empty;
        return type.StartsWith("System.Threading.", StringComparison.Ordinal)
            || type.StartsWith("System.Runtime.CompilerServices.", StringComparison.Ordinal);
    }
}
