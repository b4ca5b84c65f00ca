using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;

namespace Tidepool.Misuse;

public sealed class StreamNeverDisposed
{
    [Fact]
    public void The_memory_is_collected_and_a_sample_is_reported_with_the_place_where_it_was_made()
    {
        using var log = new Log();
        long before = PooledMemoryStream.GetStatistics().GetMisuse(MisuseKind.NeverReturned);
        const int Streams = 64 * 20;
        WeakReference[] dropped = DropHere(Streams);
        Eventually.TrueAfterCollections(() => Array.TrueForAll(dropped, d => !d.IsAlive), "the dropped streams to be collected");
        Eventually.TrueAfterCollections(
            () => PooledMemoryStream.GetStatistics().GetMisuse(MisuseKind.NeverReturned) - before >= 15, "one in 64 of the dropped streams to be reported");
        Assert.InRange(PooledMemoryStream.GetStatistics().GetMisuse(MisuseKind.NeverReturned) - before, 15, 25);
        Eventually.True(() => log.Messages.Any(m => m.Contains(nameof(DropHere), StringComparison.Ordinal)), "a report that names the method");
        Assert.All(log.Messages, m => Assert.Contains("dropped without being returned", m, StringComparison.Ordinal));
    }

    [Fact]
    public void What_is_disposed_is_never_reported()
    {
        long before = PooledMemoryStream.GetStatistics().GetMisuse(MisuseKind.NeverReturned);
        DisposeAll();
        Eventually.Collect();
        Eventually.Collect();
        Assert.Equal(before, PooledMemoryStream.GetStatistics().GetMisuse(MisuseKind.NeverReturned));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] DropHere(int count)
    {
        WeakReference[] dropped = new WeakReference[count];
        for (int i = 0; i < count; i++)
        {
            var stream = new PooledMemoryStream();
            stream.Write(new byte[5000]);
            dropped[i] = new WeakReference(stream);
        }

        return dropped;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DisposeAll()
    {
        PooledMemoryStream[] streams = [.. Enumerable.Range(0, 200).Select(_ => new PooledMemoryStream())];
        Array.ForEach(streams, s => s.Dispose());
    }

    private sealed class Log : EventListener
    {
        private readonly List<string> _messages = [];

        public IReadOnlyList<string> Messages
        {
            get
            {
                lock (_messages)
                {
                    return [.. _messages];
                }
            }
        }

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == "Tidepool")
            {
                EnableEvents(eventSource, EventLevel.Error);
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            if (eventData.EventName == "Misuse" && Equals(eventData.Payload![2], nameof(PooledMemoryStream)))
            {
                lock (_messages)
                {
                    _messages.Add((string)eventData.Payload[1]!);
                }
            }
        }
    }
}
