using System.Collections.Concurrent;
using System.Diagnostics.Tracing;

namespace Tidepool.Misuse.Support;

/// <summary>
/// The base of the misuse of resource leases: time stands still, and every pool must hold its invariants and shut down to nothing at the
/// end.
/// </summary>
public abstract class ResourceMisuseTest : ResourceTest
{
    /// <summary>Rents all places of an unused pool, and checks that each resource has one renter and lives.</summary>
    protected static void AssertOneRenterEach(ResourcePool<FakeResource> pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        pool.Validate();
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, pool.GetStatistics().MaxSize).Select(_ => Rent(pool))];
        Array.ForEach(leases, static l => l.Value.Enter());
        Assert.Equal(leases.Length, leases.Select(static l => l.Value).Distinct().Count());
        Assert.False(pool.TryRent(out _));
        Array.ForEach(leases, static l =>
        {
            l.Value.Leave();
            l.Dispose();
        });
        pool.Validate();
    }

    /// <summary>A pool with keys on the same factory and clock; the test disposes it.</summary>
    protected KeyedResourcePool<string, FakeResource> NewKeyed(int total = 4) => new(_ => Policy, new()
    {
        MaxTotal = total,
        PerKey = Options(max: 2),
    });

    /// <summary>What the event source says of one pool.</summary>
    protected sealed class Events : EventListener
    {
        private readonly ConcurrentQueue<EventWrittenEventArgs> _events = new();

        /// <summary>The events of this name about this pool so far.</summary>
        public IReadOnlyList<EventWrittenEventArgs> Of(string name, string pool) =>
            [.. _events.Where(e => e.EventName == name && e.Payload!.Contains(pool))];

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource?.Name == "Tidepool")
            {
                EnableEvents(eventSource, EventLevel.Informational);
            }
        }

        // May be called by the base before the fields are set, with events of another test.
        protected override void OnEventWritten(EventWrittenEventArgs eventData) => _events?.Enqueue(eventData);
    }
}
