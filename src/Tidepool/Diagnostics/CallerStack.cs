using System.Diagnostics;
using System.Text;

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
        int first = Array.FindIndex(frames, static frame => !IsOf(frame, Own));
        int last = Array.FindLastIndex(frames, static frame => !IsThreading(frame));

        // A caller without frames of its own: better the whole stack than none.
        (first, last) = first < 0 || last < first ? (0, frames.Length - 1) : (first, last);
        var text = new StringBuilder();
        for (int i = first; i <= last; i++)
        {
            text.Append(i > first ? "\n" : "").Append(new StackTrace(frames[i]).ToString().TrimEnd()).Append(SourceLines.Find(frames[i]));
        }

        return text.ToString();
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

    /// <summary>Whether a frame is of the platform's threads and tasks, which stand at the end of every stack.</summary>
    internal static bool IsThreading(StackFrame frame)
    {
        string type = DiagnosticMethodInfo.Create(frame)?.DeclaringTypeName ?? string.Empty;
        return type.StartsWith("System.Threading.", StringComparison.Ordinal)
            || type.StartsWith("System.Runtime.CompilerServices.", StringComparison.Ordinal);
    }
}

/// <summary>Takes the stacks of some rentals of a pool with full checks: of each, or of 1 in 128.</summary>
internal sealed class StackSampler(bool all)
{
    private const int Sampling = 128;

    private int _rentals;

    /// <summary>The call site of this rental if it is one of those recorded.</summary>
    internal StackTrace? Sample() => all || (Interlocked.Increment(ref _rentals) - 1) % Sampling == 0 ? CallerStack.Capture() : null;
}
