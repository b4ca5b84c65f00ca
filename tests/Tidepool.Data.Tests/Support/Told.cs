using System.Collections.Concurrent;
using System.Diagnostics.Tracing;

namespace Tidepool.Data.Tests.Support;

/// <summary>What the event source reports of one pool.</summary>
internal sealed class Told : EventListener
{
    private readonly ConcurrentQueue<EventWrittenEventArgs> _events = [];

    /// <summary>The first words of each event of a name that the pool told.</summary>
    internal string[] Of(string name, string pool) =>
        [.. _events.Where(e => e.EventName == name && Equals(e.Payload![^1], pool)).Select(static e => (string)e.Payload![0]!)];

    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        if (eventSource.Name == "Tidepool")
        {
            EnableEvents(eventSource, EventLevel.Warning);
        }
    }

    protected override void OnEventWritten(EventWrittenEventArgs eventData) => _events?.Enqueue(eventData);
}
