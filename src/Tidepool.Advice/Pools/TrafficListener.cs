using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>
/// Listens to each rental and return of all pools for one window. While it listens, each of them writes an event, so it is asked for and
/// says what it cost.
/// </summary>
internal static class TrafficListener
{
    /// <summary>The window.</summary>
    public const int WindowMilliseconds = 5000;

    private const int BaselineMilliseconds = 2000;
    private const int BufferMegabytes = 128;
    private const long RentalsKeyword = 1;
    private const int OverMaximumSize = 1; // of the platform's BufferAllocatedReason
    private const string Platform = "System.Buffers.ArrayPoolEventSource";
    private const string Tidepool = "Tidepool";

    /// <summary>Two seconds of the process undisturbed, then five of its events.</summary>
    /// <param name="target">The process.</param>
    /// <param name="stop">Ends the window early.</param>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public static async Task<TrafficWindow> ListenAsync(TargetProcess target, CancellationToken stop)
    {
        var baseline = new ProcessorClock(target.Id);
        await Task.WhenAny(Task.Delay(BaselineMilliseconds, stop));
        double? before = baseline.Read();
        using EventPipeSession session = Connection.Open(
            new DiagnosticsClient(target.Id),
            target,
            new EventPipeSessionConfiguration(
                [new(Platform, EventLevel.Verbose), new(Tidepool, EventLevel.Verbose, RentalsKeyword)],
                BufferMegabytes,
                requestRundown: false,
                requestStackwalk: false),
            stop);
        var reader = new TrafficReader();
        EventWindow window = await Task.Run(
            () => EventWindow.Read(session, target.Id, WindowMilliseconds, written => Add(reader, written), stop), CancellationToken.None);
        return new TrafficWindow
        {
            Seconds = window.Seconds,
            Pools = reader.Close(window.LostEvents),
            ProcessorsBefore = before,
            ProcessorsWithin = window.Processors,
            LostEvents = window.LostEvents,
        };
    }

    private static void Add(TrafficReader reader, TraceEvent written)
    {
        if (written.ProviderName is not (Platform or Tidepool) || (int)written.ID is not (1 or 2 or 3 or 6))
        {
            return;
        }

        bool isTidepool = written.ProviderName == Tidepool;
        (bool, int) pool = (isTidepool, (int)EventValues.Number(written, "poolId"));
        int length = (int)EventValues.Number(written, "bufferSize");
        int id = (int)EventValues.Number(written, "bufferId");
        switch ((int)written.ID)
        {
            case 1:
                reader.Rented(pool, length, id, isTidepool ? (int)EventValues.Number(written, "requestedLength") : null);
                break;
            case 2:
                reader.Allocated(pool, length, id, isTidepool || EventValues.Number(written, "reason") != OverMaximumSize);
                break;
            case 3:
                reader.Returned(pool, length, id);
                break;
            case 6:
                reader.Dropped(pool, length);
                break;
        }
    }
}
