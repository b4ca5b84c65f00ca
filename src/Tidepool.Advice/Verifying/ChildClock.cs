using System.Runtime.InteropServices;

namespace Tidepool.Advice;

/// <summary>
/// The processor time of child processes that have ended, those below them included. One child at a time may be measured so: the system
/// adds all of them up.
/// </summary>
internal static partial class ChildClock
{
    private const int Children = -1;

    /// <summary>The seconds so far; null where the system does not count them.</summary>
    public static double? Read()
    {
        if (OperatingSystem.IsWindows())
        {
            return null;
        }

        Usage usage = default;
        return GetUsage(Children, ref usage) == 0
            ? usage.UserSeconds + usage.SystemSeconds + (usage.UserMicroseconds + usage.SystemMicroseconds) / 1e6
            : null;
    }

    [LibraryImport("libc", EntryPoint = "getrusage")]
    private static partial int GetUsage(int who, ref Usage usage);

    /// <summary>The head of <c>struct rusage</c>, and room for the rest.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    private struct Usage
    {
        [FieldOffset(0)]
        public long UserSeconds;

        [FieldOffset(8)]
        public int UserMicroseconds;

        [FieldOffset(16)]
        public long SystemSeconds;

        [FieldOffset(24)]
        public int SystemMicroseconds;
    }
}
