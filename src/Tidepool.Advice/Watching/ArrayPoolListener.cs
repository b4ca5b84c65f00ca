using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>
/// Listens to <c>ArrayPool</c> for one window at a time. While it listens, every rent and return of the process hashes the array and
/// writes an event, so a window is short, is opened only on request, and says what it cost.
/// </summary>
internal sealed class ArrayPoolListener(DiagnosticsClient client, TargetProcess target) : IDisposable
{
    private const int BaselineMilliseconds = 2000;
    private const int WindowMilliseconds = 5000;
    private const int BufferMegabytes = 64;
    private const string Provider = "System.Buffers.ArrayPoolEventSource";

    private readonly CancellationTokenSource _disposed = new();
    private int _isOpen;

    /// <summary>Whether a window is open.</summary>
    public bool IsOpen => Volatile.Read(ref _isOpen) != 0;

    /// <summary>The last window that has closed.</summary>
    public ArrayPoolWindow? Last { get; private set; }

    /// <summary>Why the last window could not be opened; null when it could.</summary>
    public string? Failure { get; private set; }

    /// <summary>Opens a window, unless one is open: two seconds of the process undisturbed, then five of its events.</summary>
    public void Open()
    {
        if (Interlocked.Exchange(ref _isOpen, 1) == 0)
        {
            _ = Task.Factory.StartNew(Listen, TaskCreationOptions.LongRunning);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _disposed.Cancel();

    private void Listen()
    {
        try
        {
            var baseline = new ProcessorClock(target.Id);
            if (_disposed.Token.WaitHandle.WaitOne(BaselineMilliseconds))
            {
                return;
            }

            double? before = baseline.Read();
            using EventPipeSession session = Connection.Open(
                client,
                target,
                new EventPipeSessionConfiguration(
                    [new(Provider, EventLevel.Verbose)], BufferMegabytes, requestRundown: false, requestStackwalk: false),
                _disposed.Token);
            Last = Count(session, before);
            Failure = null;
        }
        catch (Exception failure) when (failure is TargetException || Connection.IsGone(failure))
        {
            Failure = $"The window of ArrayPool events broke off: {failure.Message}";
        }
        finally
        {
            Volatile.Write(ref _isOpen, 0);
        }
    }

    private ArrayPoolWindow Count(EventPipeSession session, double? before)
    {
        var counter = new ArrayPoolCounter();
        EventWindow window = EventWindow.Read(
            session,
            target.Id,
            WindowMilliseconds,
            written =>
            {
                if (written.ProviderName == Provider)
                {
                    counter.Add(
                        (int)written.ID, (int)EventValues.Number(written, "bufferSize"), (int)EventValues.Number(written, "poolId"));
                }
            },
            _disposed.Token);
        return counter.Close(window.Seconds, before, window.Processors, window.LostEvents);
    }
}
