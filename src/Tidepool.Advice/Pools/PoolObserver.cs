using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>Asks the pools of a process once a second what they did, missed and dropped, and hears what they report.</summary>
internal sealed class PoolObserver : IDisposable
{
    private const int BufferMegabytes = 16;
    private const int StopMilliseconds = 10_000;
    private const long PoolsKeyword = 2;

    private readonly Lock _gate = new();
    private readonly PoolHistory _history = new();
    private readonly EventPipeSession _session;
    private readonly Task _reading;
    private bool _isClosed;

    /// <summary>Begins to ask.</summary>
    /// <param name="target">The process.</param>
    /// <param name="stop">Ends the wait for its answer.</param>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public PoolObserver(TargetProcess target, CancellationToken stop)
    {
        _session = Connection.Open(
            new DiagnosticsClient(target.Id),
            target,
            new EventPipeSessionConfiguration(
                [
                    // Warnings and errors are the reports; the answers pass at every level.
                    new(
                        "Tidepool",
                        EventLevel.Warning,
                        PoolsKeyword,
                        new Dictionary<string, string> { ["PoolInterval"] = "1000", ["PoolShadow"] = "1" }),
                ],
                BufferMegabytes,
                requestRundown: false,
                requestStackwalk: false),
            stop);
        _reading = Task.Factory.StartNew(Read, TaskCreationOptions.LongRunning);
    }

    /// <summary>Ends the session and says what the pools did.</summary>
    public IReadOnlyList<PoolRecord> Close()
    {
        Dispose();
        return Peek();
    }

    /// <summary>What the pools did so far.</summary>
    public IReadOnlyList<PoolRecord> Peek()
    {
        lock (_gate)
        {
            return _history.Close();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        Connection.Close(_session, StopMilliseconds);
        _reading.Wait(StopMilliseconds);
    }

    private void Read()
    {
        try
        {
            using var source = new EventPipeEventSource(_session.EventStream);
            source.Dynamic.All += Add;
            source.Process();
        }
        catch (Exception failure) when (Connection.IsGone(failure))
        {
            // The process has ended: what it had written last is incomplete.
        }
    }

    private void Add(TraceEvent written)
    {
        lock (_gate)
        {
            PoolEvents.Add(_history, written);
        }
    }
}
