using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Tidepool.Advice;

/// <summary>Listens to what a process writes of its collections.</summary>
internal sealed class CollectionReader
{
    private readonly Dictionary<string, int> _reasons = [];
    private readonly List<CollectionPause> _pauses = [];
    private readonly SurvivorCount _survivors = new();
    private bool _isFull;

    /// <summary>Listens to a source.</summary>
    /// <param name="source">A source of the runtime's events, in their order.</param>
    public CollectionReader(TraceEventDispatcher source)
    {
        source.Clr.GCStart += Begin;
        source.Clr.GCHeapStats += written => _survivors.End(written.TotalPromotedSize0, written.TotalPromotedSize3);
        PauseEvents.Listen(source, milliseconds => _pauses.Add(new(milliseconds / 1000, _isFull)));
    }

    /// <summary>What was written until now.</summary>
    /// <param name="seconds">How long the process has written.</param>
    public CollectionHistory HistoryOf(double seconds) => new()
    {
        Seconds = seconds,
        Reasons = _reasons,
        Pauses = _pauses,
        YoungCollections = _survivors.Young,
        PromotedBytes = _survivors.PromotedBytes,
        FullCollections = _survivors.Full,
        LargeSurvivingBytes = _survivors.LargeBytes,
    };

    private void Begin(GCStartTraceData written)
    {
        string reason = written.Reason.ToString();
        _reasons[reason] = _reasons.GetValueOrDefault(reason) + 1;
        _isFull = written.Depth >= 2;
        _survivors.Begin(written.Depth, written.Type == GCType.BackgroundGC);
    }
}
