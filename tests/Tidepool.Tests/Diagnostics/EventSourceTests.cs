using System.Collections.Concurrent;
using System.Diagnostics.Tracing;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>The event source is the process's; each test names its pool and looks at the events of that one only.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class EventSourceTests : PoolTest
{
    private const EventKeywords Rentals = (EventKeywords)1;

    private enum Id
    {
        Rented = 1,
        Allocated = 2,
        Returned = 3,
        Trimmed = 4,
        TrimPoll = 5,
        Dropped = 6,
        Misuse = 7,
    }

    [Fact]
    public void A_rental_that_a_tier_serves_writes_one_event_with_the_requested_length()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events hit" });
        pool.Rent(100).Return();
        BufferLease<byte> lease = default;
        List<EventWrittenEventArgs> events = Collect(pool, EventLevel.Verbose, () => lease = pool.Rent(105));
        EventWrittenEventArgs rented = Assert.Single(events);
        Assert.Equal((int)Id.Rented, rented.EventId);
        Assert.Equal("BufferRented", rented.EventName);
        Assert.Equal(EventLevel.Verbose, rented.Level);
        Assert.Equal(lease.Segment.Array!.Length, Payload<int>(rented, "bufferSize"));
        Assert.Equal(105, Payload<int>(rented, "requestedLength"));
        lease.Return();
    }

    [Fact]
    public void A_rental_that_misses_writes_an_allocation_at_informational_level()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events miss" });
        List<EventWrittenEventArgs> events = Collect(pool, EventLevel.Informational, () => pool.Rent(100).Return());
        EventWrittenEventArgs allocated = Assert.Single(events);
        Assert.Equal((int)Id.Allocated, allocated.EventId);
        Assert.Equal(100, Payload<int>(allocated, "requestedLength"));
        Assert.True(Payload<int>(allocated, "bufferSize") >= 100);
    }

    [Fact]
    public void A_return_writes_one_event()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events return" });
        pool.Rent(100).Return();
        List<EventWrittenEventArgs> events = Collect(pool, EventLevel.Verbose, () => pool.Rent(100).Return());
        Assert.Equal([(int)Id.Rented, (int)Id.Returned], events.Select(e => e.EventId));
        Assert.Equal("BufferReturned", events[1].EventName);
        Assert.Equal(EventLevel.Verbose, events[1].Level);
    }

    [Fact]
    public void Rented_and_returned_name_the_same_buffer()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events identity" });
        List<EventWrittenEventArgs> events = Collect(
            pool,
            EventLevel.Verbose,
            () =>
            {
                BufferLease<byte> first = pool.Rent(100);
                BufferLease<byte> second = pool.Rent(100);
                second.Return();
                first.Return();
            });
        int[] rented = [.. events.Where(e => e.EventId == (int)Id.Rented).Select(e => Payload<int>(e, "bufferId"))];
        int[] returned = [.. events.Where(e => e.EventId == (int)Id.Returned).Select(e => Payload<int>(e, "bufferId"))];
        Assert.Equal(2, rented.Distinct().Count());
        Assert.Equal(rented.Reverse(), returned);
    }

    [Fact]
    public void Counts_of_events_equal_counts_of_rentals_for_every_kind_of_rental()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events count" });
        List<EventWrittenEventArgs> events = Collect(
            pool,
            EventLevel.Verbose,
            () =>
            {
                for (int i = 0; i < 10; i++)
                {
                    pool.Rent(100).Return();
                    pool.AsArrayPool().Return(pool.AsArrayPool().Rent(100));
                    pool.AsArrayPool().Return(pool.AsArrayPool().Rent(0)); // length zero is no rental
                    pool.RentScope(100).Dispose();
                    pool.AsMemoryPool().Rent(100).Dispose();
                }
            });
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(40, statistics.Rented);
        Assert.Equal(40, events.Count(e => e.EventId == (int)Id.Rented));
        Assert.Equal(40, events.Count(e => e.EventId == (int)Id.Returned));
        Assert.Equal(statistics.Missed, events.Count(e => e.EventId == (int)Id.Allocated));
    }

    [Fact]
    public void The_events_of_raw_arrays_name_the_array_its_length_and_the_adapter_as_the_runtime_s_pool_does()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events raw" });
        System.Buffers.ArrayPool<byte> arrays = pool.AsArrayPool();
        byte[] array = arrays.Rent(16);
        arrays.Return(array);
        EventWrittenEventArgs rented = Assert.Single(Collect(pool, EventLevel.Verbose, () => arrays.Rent(16)));
        EventWrittenEventArgs returned = Assert.Single(Collect(pool, EventLevel.Verbose, () => arrays.Return(array)));
        Assert.Equal(((int)Id.Rented, (int)Id.Returned), (rented.EventId, returned.EventId));
        foreach (EventWrittenEventArgs written in (EventWrittenEventArgs[])[rented, returned])
        {
            Assert.Equal([array.GetHashCode(), array.Length, arrays.GetHashCode()], written.Payload!.Take(3));
        }
    }

    [Fact]
    public void Many_rentals_of_raw_arrays_write_the_events_that_the_runtime_s_pool_writes()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events many" });
        System.Buffers.ArrayPool<byte> arrays = pool.AsArrayPool();
        List<EventWrittenEventArgs> events = Collect(
            pool,
            EventLevel.Verbose,
            () =>
            {
                for (int i = 0; i < 10; i++)
                {
                    arrays.Return(arrays.Rent(16));
                    arrays.Return(arrays.Rent(0));
                }

                for (int i = 0; i < 20; i++)
                {
                    arrays.Rent(16);
                }
            });
        Forgive(pool, 20);
        Assert.Equal(30, events.Count(e => e.EventId == (int)Id.Rented));
        Assert.Equal(20, events.Count(e => e.EventId == (int)Id.Allocated));
        Assert.Equal(10, events.Count(e => e.EventId == (int)Id.Returned));
        Assert.Equal(60, events.Count);
    }

    [Fact]
    public void Rentals_are_silent_below_verbose_level()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events quiet" });
        pool.Rent(100).Return();
        Assert.Empty(Collect(pool, EventLevel.Informational, () => pool.Rent(100).Return()));
    }

    [Fact]
    public void Rentals_are_silent_and_still_counted_after_a_listener_has_gone()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events gone" });
        Assert.NotEmpty(Collect(pool, EventLevel.Verbose, () => pool.Rent(100).Return()));
        pool.Rent(100).Return();
        Assert.Empty(Collect(pool, EventLevel.Informational, () => pool.Rent(100).Return()));
        Assert.Equal(3, pool.GetStatistics().Rented);
    }

    [Fact]
    public void A_listener_that_comes_while_threads_rent_sees_their_rentals()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events late" });
        using ParkedThread renter = new();
        renter.Run(() => pool.Rent(100).Return()); // its magazine is warm and its fast path taken
        List<EventWrittenEventArgs> events = Collect(pool, EventLevel.Verbose, () => renter.Run(() => pool.Rent(100).Return()));
        Assert.Contains(events, e => e.EventId == (int)Id.Rented);
        Assert.Contains(events, e => e.EventId == (int)Id.Returned);
    }

    [Fact]
    public void A_trim_and_a_drop_write_events()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events trim", Sizes = SizeClasses.FromLengths(1000) });
        pool.Rent(1000).Return();
        List<EventWrittenEventArgs> events = Collect(
            pool,
            EventLevel.Informational,
            () =>
            {
                pool.Trim();
                pool.Rent(1001).Return();
            });
        EventWrittenEventArgs trimmed = Assert.Single(events, e => e.EventId == (int)Id.Trimmed);
        Assert.Equal(1L, Payload<long>(trimmed, "buffers"));
        Assert.Single(events, e => e.EventId == (int)Id.Dropped);
    }

    [Fact]
    public void A_misuse_writes_an_event_with_its_message()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "events misuse", Checks = PoolChecks.Default });
        BufferLease<byte> lease = pool.Rent(100);
        lease.Return();
        List<EventWrittenEventArgs> events = Collect(
            pool, EventLevel.Error, () => Assert.Throws<PoolMisuseException>(() => lease.Return()));
        EventWrittenEventArgs misuse = Assert.Single(events);
        Assert.Equal((int)Id.Misuse, misuse.EventId);
        Assert.Equal("DoubleReturn", Payload<string>(misuse, "kind"));
        Assert.Contains("events misuse", Payload<string>(misuse, "message"), StringComparison.Ordinal);
    }

    private static T Payload<T>(EventWrittenEventArgs written, string name) => (T)written.Payload![written.PayloadNames!.IndexOf(name)]!;

    private static bool Mentions(EventWrittenEventArgs written, string name, object? value) =>
        written.PayloadNames!.Contains(name) && Equals(written.Payload![written.PayloadNames.IndexOf(name)], value);

    private static List<EventWrittenEventArgs> Collect(BufferPool<byte> pool, EventLevel level, Action body)
    {
        int arrays = pool.AsArrayPool().GetHashCode();
        using Listener listener = new(level);
        body();
        return
        [
            .. listener.Written.Where(
                e => Mentions(e, "pool", pool.Name) || Mentions(e, "poolId", pool.Core.PoolId) || Mentions(e, "poolId", arrays)),
        ];
    }

    private sealed class Listener : EventListener
    {
        private readonly EventLevel _level;

        public Listener(EventLevel level)
        {
            _level = level;
            foreach (EventSource source in EventSource.GetSources())
            {
                if (source.Name == "Tidepool")
                {
                    EnableEvents(source, level, level == EventLevel.Verbose ? Rentals : EventKeywords.None);
                }
            }
        }

        public ConcurrentQueue<EventWrittenEventArgs> Written { get; } = new();

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            if (eventData.EventSource.Name == "Tidepool")
            {
                Written.Enqueue(eventData);
            }
        }
    }
}
