using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;

namespace Tidepool.Misuse;

/// <summary>
/// Only reports that name a method of this class are looked at: the process counts the streams too that other tests have dropped, whenever
/// a finalizer finds them.
/// </summary>
public sealed class StreamNeverDisposed
{
    private const int Streams = 64 * 20; // one in 64 new ones is watched

    [Fact]
    public void The_memory_is_collected_and_a_sample_is_reported_with_the_place_where_it_was_made()
    {
        using var log = new Log();
        (WeakReference[] dropped, int watched) = DropHere();
        Eventually.TrueAfterCollections(() => Array.TrueForAll(dropped, d => !d.IsAlive), "the dropped streams to be collected");
        AssertReported(log, nameof(DropHere), watched);
    }

    [Fact]
    public void What_is_disposed_is_never_reported()
    {
        using var log = new Log();
        DisposeAll();
        int watched = DropTheNext();
        AssertReported(log, nameof(DropTheNext), watched);
        Assert.Empty(log.DropsOf(nameof(DisposeAll)));
    }

    private static void AssertReported(Log log, string method, int watched)
    {
        Assert.InRange(watched, 3, 80); // not exactly one in 64: other tests make streams too
        Eventually.TrueAfterCollections(() => log.DropsOf(method).Count >= watched, $"{watched} reports that name the method");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference[] Dropped, int Watched) DropHere()
    {
        PooledMemoryStream[] streams = Make(2 * Streams);
        return (Array.ConvertAll(streams, s => new WeakReference(s)), CountWatched(streams));
    }

    /// <summary>Drops twice as many as were disposed: some have the memory of those, some are new.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int DropTheNext() => CountWatched(Make(2 * Streams));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DisposeAll() => Array.ForEach(Make(Streams), s => s.Dispose());

    private static PooledMemoryStream[] Make(int count)
    {
        PooledMemoryStream[] streams = [.. Enumerable.Range(0, count).Select(_ => new PooledMemoryStream())];
        Array.ForEach(streams, s => s.Write(new byte[5000]));
        return streams;
    }

    /// <summary>How many are watched and new: what was used before may be in the pool's memory for a while, though it is rented.</summary>
    private static int CountWatched(PooledMemoryStream[] streams) => streams.Count(s => s.Core is { Watch: not null, WatchedRentals: 1 });

    private static bool Names(string text, string method) =>
        text.Contains($"{nameof(StreamNeverDisposed)}.{method}(", StringComparison.Ordinal);

    private sealed class Log : EventListener
    {
        private readonly List<string> _messages = [];

        /// <summary>The reports of dropped streams that name the method as the place where they were made.</summary>
        public IReadOnlyList<string> DropsOf(string method)
        {
            lock (_messages)
            {
                return [.. _messages.Where(m => m.Contains("dropped without being returned", StringComparison.Ordinal)
                    && Names(m, method))];
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
