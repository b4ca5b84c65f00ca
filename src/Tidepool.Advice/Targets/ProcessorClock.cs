using System.Diagnostics;

namespace Tidepool.Advice;

/// <summary>Measures how many processors a process keeps busy, from the moment it is made.</summary>
internal sealed class ProcessorClock
{
    private readonly int _processId;
    private readonly long _start = Stopwatch.GetTimestamp();
    private readonly TimeSpan? _used;

    public ProcessorClock(int processId)
    {
        _processId = processId;
        _used = Used();
    }

    /// <summary>The seconds since then.</summary>
    public double Seconds => Stopwatch.GetElapsedTime(_start).TotalSeconds;

    /// <summary>The processors that were busy since then; null when the process has ended or may not be read.</summary>
    public double? Read() => Used() - _used is { } used ? used.TotalSeconds / Seconds : null;

    private TimeSpan? Used()
    {
        try
        {
            using var process = Process.GetProcessById(_processId);
            return process.TotalProcessorTime;
        }
        catch (Exception failure) when (failure is ArgumentException or InvalidOperationException or System.ComponentModel.Win32Exception)
        {
            return null;
        }
    }
}
