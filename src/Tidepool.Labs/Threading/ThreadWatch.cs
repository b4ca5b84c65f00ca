using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Labs;

/// <summary>
/// Counts the threads that work on items, and looks from a thread of its own at how many the process has: every millisecond at first,
/// then every 20.
/// </summary>
internal sealed class ThreadWatch : IDisposable
{
    private const string Status = "/proc/self/status"; // one small file; asking for the process would read one for each thread
    private const int Often = 200;

    [ThreadStatic]
    private static ThreadWatch? _seenBy;

    private readonly Thread _looking;
    private readonly ManualResetEventSlim _end = new();
    private readonly int _threadsBefore;
    private readonly double _residentBefore;
    private int _threads;
    private double _resident;
    private int _distinct;

    /// <summary>Begins to watch.</summary>
    public ThreadWatch()
    {
        _looking = new Thread(Look) { IsBackground = true, Name = "watch", Priority = ThreadPriority.Highest };
        using var begun = new ManualResetEventSlim();
        _looking.Start(begun);
        begun.Wait();
        (_threadsBefore, _residentBefore) = Read();
        (_threads, _resident) = (_threadsBefore, _residentBefore);
    }

    /// <summary>Different threads that called <see cref="Note"/>.</summary>
    public int Distinct => Volatile.Read(ref _distinct);

    /// <summary>The most threads at a time, less those that there were before.</summary>
    public int Peak => _threads - _threadsBefore;

    /// <summary>The most resident bytes, less those that there were before.</summary>
    public double PeakResident => _resident - _residentBefore;

    /// <summary>Notes that the calling thread works on an item.</summary>
    public void Note()
    {
        if (_seenBy != this)
        {
            _seenBy = this;
            Interlocked.Increment(ref _distinct);
        }
    }

    /// <summary>Looks a last time and ends the watch; what it has seen can be read afterwards.</summary>
    public void Stop()
    {
        _end.Set();
        _looking.Join();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        _end.Dispose();
    }

    private static (int Threads, double ResidentBytes) Read()
    {
        if (!File.Exists(Status))
        {
            using var process = Process.GetCurrentProcess();
            return (process.Threads.Count, process.WorkingSet64);
        }

        int threads = 0;
        double kilobytes = 0;
        foreach (string line in File.ReadLines(Status))
        {
            if (line.StartsWith("Threads:", StringComparison.Ordinal))
            {
                threads = int.Parse(line.AsSpan("Threads:".Length), CultureInfo.InvariantCulture);
            }
            else if (line.StartsWith("VmRSS:", StringComparison.Ordinal))
            {
                kilobytes = double.Parse(line.AsSpan("VmRSS:".Length).TrimEnd("kB "), CultureInfo.InvariantCulture);
            }
        }

        return (threads, kilobytes * 1024);
    }

    private void Look(object? begun)
    {
        ((ManualResetEventSlim)begun!).Set();
        bool ends;
        int looks = 0;
        do
        {
            ends = _end.Wait(looks++ < Often ? 1 : 20);
            var (threads, resident) = Read();
            _threads = Math.Max(_threads, threads);
            _resident = Math.Max(_resident, resident);
        }
        while (!ends);
    }
}
