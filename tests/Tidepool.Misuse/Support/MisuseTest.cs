using System.Collections.Concurrent;
using System.Diagnostics.Tracing;

namespace Tidepool.Misuse.Support;

/// <summary>
/// The base of the cells: one pool in the cell's mode, what was reported of it, and the check that every cell ends with: no buffer has two
/// renters, whatever was done before.
/// </summary>
public abstract class MisuseTest : PoolTest
{
    private static int s_number;

    private readonly MisuseLog _log;

    protected MisuseTest(PoolChecks mode, bool stacks = false, int leakSampling = 0)
    {
        // A name of its own: a report of an earlier test of the class may come late.
        Name = $"{GetType().Name}-{Interlocked.Increment(ref s_number)}";
        _log = new MisuseLog(Name);
        Pool = NewPool<int>(new() { Name = Name, Checks = mode, CaptureStacks = stacks, LeakSampling = leakSampling });
        Assert.Equal(mode, Pool.Checks);
    }

    protected string Name { get; }

    protected BufferPool<int> Pool { get; }

    /// <summary>The messages of the event source about this pool so far.</summary>
    protected IReadOnlyCollection<string> Reported => _log.Messages;

    protected long Count(MisuseKind kind) => Pool.GetStatistics().GetMisuse(kind);

    /// <summary>The exception of a misuse, checked for what every message must say.</summary>
    protected PoolMisuseException Throws(MisuseKind kind, Action misuse)
    {
        PoolMisuseException thrown = Assert.Throws<PoolMisuseException>(misuse);
        Assert.Equal(kind, thrown.Kind);
        Assert.Equal(Name, thrown.PoolName);
        Assert.Contains($"'{Name}'", thrown.Message, StringComparison.Ordinal);
        return thrown;
    }

    /// <summary>Rents more buffers than any tier may hold of the length, and checks that each has one renter.</summary>
    protected void AssertNoTwoRenters(int length = 100)
    {
        List<BufferLease<int>> leases = [];
        for (int i = 0; i < 150; i++)
        {
            leases.Add(Pool.Rent(length));
            leases[i].Span.Fill(i);
        }

        using ParkedThread other = new();
        other.Run(() =>
        {
            for (int i = 150; i < 200; i++)
            {
                leases.Add(Pool.Rent(length));
                leases[i].Span.Fill(i);
            }
        });
        for (int i = 0; i < leases.Count; i++)
        {
            int stranger = leases[i].Span.IndexOfAnyExcept(i);
            Assert.True(stranger < 0, $"Buffer {i} has a second renter.");
        }

        leases.ForEach(l => l.Return());
        Pool.Validate();
    }

    protected void AssertNoTwoRentersOfArrays(int length = 128)
    {
        int[][] arrays = [.. Enumerable.Range(0, 200).Select(_ => Pool.AsArrayPool().Rent(length))];
        Assert.Equal(arrays.Length, arrays.Distinct().Count());
        Array.ForEach(arrays, a => Pool.AsArrayPool().Return(a));
        Pool.Validate();
    }

    protected override void Dispose(bool disposing)
    {
        _log.Dispose();
        base.Dispose(disposing);
    }

    private sealed class MisuseLog : EventListener
    {
        private readonly ConcurrentQueue<string> _messages = new();
        private readonly string _pool;

        public MisuseLog(string pool)
        {
            _pool = pool;
            foreach (EventSource source in EventSource.GetSources())
            {
                Listen(source);
            }
        }

        public IReadOnlyCollection<string> Messages => [.. _messages];

        protected override void OnEventSourceCreated(EventSource eventSource) => Listen(eventSource);

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            // Called by the base before the constructor has run when the source exists already.
            if (eventData.EventName == "Misuse" && _pool is not null && eventData.Payload!.Contains(_pool))
            {
                _messages.Enqueue((string)eventData.Payload[eventData.PayloadNames!.IndexOf("message")]!);
            }
        }

        private void Listen(EventSource source)
        {
            if (source.Name == "Tidepool")
            {
                EnableEvents(source, EventLevel.Error);
            }
        }
    }
}
