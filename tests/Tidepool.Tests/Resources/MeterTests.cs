using System.Diagnostics.Metrics;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

[Collection(SharedPoolsCollection.Name)]
public sealed class MeterTests : ResourceTest
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Every_instrument_tells_what_happened_and_counts_return_to_zero(bool hasListenerThatThrows)
    {
        using var factory = new Factory();
        using var collector = new Collector(factory.Meter);
        using MeterListener? other = hasListenerThatThrows ? ThrowWhenPublished(factory.Meter) : null;
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions
        {
            Name = "metered",
            MaxSize = 1,
            MaxWaiters = 1,
            LeakThreshold = TimeSpan.FromSeconds(1),
            MeterFactory = factory,
            TimeProvider = Time,
            Executor = static item => item.Execute(),
        });
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, Second);
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(async () => await pool.RentAsync());
        Dictionary<string, double> now = collector.Collect();
        Assert.Equal(1, now["tidepool.resource.count used"]);
        Assert.Equal(0, now["tidepool.resource.count idle"]);
        Assert.Equal(1, now["tidepool.resource.max"]);
        Assert.Equal(0, now["tidepool.resource.min"]);
        Assert.Equal(1, now["tidepool.resource.pending_requests"]);
        Time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(waiting));
        lease.Value.IsDead = true;
        lease.Dispose();
        Policy.CreateError = new IOException("down");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Policy.CreateError = null;
        Time.Advance(1000);
        Rent(pool).Dispose();
        await pool.DisposeAsync();
        now = collector.Collect();
        Assert.Equal(1, now["tidepool.resource.timeouts"]);
        Assert.Equal(1, now["tidepool.resource.rejected"]);
        Assert.Equal(1, now["tidepool.resource.leaked"]);
        Assert.Equal(1, now["tidepool.resource.create_failures System.IO.IOException"]);
        Assert.Equal(1, now["tidepool.resource.destroyed broken"]);
        Assert.Equal(1, now["tidepool.resource.destroyed shutdown"]);
        Assert.Equal(2, now["tidepool.resource.create_time count"]);
        Assert.Equal(2, now["tidepool.resource.use_time count"]);
        Assert.True(now["tidepool.resource.wait_time count"] >= 2);
        string[] levels = ["count used", "count idle", "pending_requests", "max"];
        Assert.Equal(0, levels.Sum(name => now["tidepool.resource." + name]));
    }

    [Fact]
    public void Each_rental_of_the_resource_returned_last_is_timed()
    {
        using var factory = new Factory();
        using var collector = new Collector(factory.Meter);
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions
        {
            Name = "metered",
            MaxSize = 1,
            MeterFactory = factory,
            TimeProvider = Time,
            Executor = static item => item.Execute(),
        });
        Watch(pool);
        for (int i = 0; i < 5; i++)
        {
            Rent(pool).Dispose();
        }

        Assert.Equal(5, collector.Collect()["tidepool.resource.use_time count"]);
    }

    [Fact]
    public async Task Each_end_has_one_reason()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool), Rent(pool)];
        leases[0].MarkBroken();
        Array.ForEach(leases, static l => l.Dispose());
        await pool.ClearAsync();
        Rent(pool).Dispose();
        Time.Advance(TimeSpan.FromMinutes(6));
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(statistics.Destroyed, Enum.GetValues<DestroyReason>().Sum(statistics.GetDestroyed));
        Assert.Equal(1, statistics.GetDestroyed(DestroyReason.Broken));
        Assert.Equal(2, statistics.GetDestroyed(DestroyReason.Cleared));
        Assert.Equal(1, statistics.GetDestroyed(DestroyReason.Idle));
    }

    [Fact]
    public async Task A_listener_that_throws_disturbs_neither_rentals_nor_returns()
    {
        using var factory = new Factory();
        using var listener = new MeterListener();
        int calls = 0;
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (ReferenceEquals(instrument.Meter, factory.Meter))
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<double>((_, _, _, _) => Fail());
        listener.SetMeasurementEventCallback<long>((_, _, _, _) => Fail());
        listener.Start();
        ResourcePool<FakeResource> pool = Watch(new(Policy, new ResourcePoolOptions
        {
            MaxSize = 1,
            MaxWaiters = 1,
            MeterFactory = factory,
            TimeProvider = Time,
            Executor = static item => item.Execute(),
        }));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(async () => await pool.RentAsync());
        lease.Dispose();
        lease = await Soon(waiting);
        waiting = Wait(pool, Second);
        Time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(waiting));
        lease.MarkBroken();
        lease.Dispose();
        Assert.Equal((0, 0), (pool.GetStatistics().Leased, pool.GetStatistics().Destroying));
        Policy.CreateError = new IOException("down");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.True(calls >= 8, $"{calls} calls");

        void Fail()
        {
            calls++;
            throw new InvalidOperationException("as asked");
        }
    }

    private static MeterListener ThrowWhenPublished(Meter meter)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (instrument.Meter == meter)
                {
                    throw new InvalidOperationException("as asked");
                }
            },
        };
        listener.Start();
        return listener;
    }

    private sealed class Factory : IMeterFactory
    {
        internal Meter Meter { get; } = new("Tidepool");

        public Meter Create(MeterOptions options)
        {
            Assert.Equal("Tidepool", options.Name);
            return Meter;
        }

        public void Dispose() => Meter.Dispose();
    }

    private sealed class Collector : IDisposable
    {
        private readonly MeterListener _listener = new();
        private readonly Dictionary<string, double> _now = [];

        internal Collector(Meter meter)
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (ReferenceEquals(instrument.Meter, meter))
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            };
            _listener.SetMeasurementEventCallback<int>((i, v, t, _) => Set(i, v, t));
            _listener.SetMeasurementEventCallback<long>((i, v, t, _) => Add(Key(i, t), v));
            _listener.SetMeasurementEventCallback<double>((i, _, t, _) => Add(Key(i, t) + " count", 1));
            _listener.Start();
        }

        internal Dictionary<string, double> Collect()
        {
            _listener.RecordObservableInstruments();
            lock (_now)
            {
                return new(_now);
            }
        }

        public void Dispose() => _listener.Dispose();

        private void Set(Instrument instrument, int value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            lock (_now)
            {
                _now[Key(instrument, tags)] = value;
            }
        }

        private void Add(string key, double value)
        {
            lock (_now)
            {
                _now[key] = _now.GetValueOrDefault(key) + value;
            }
        }

        private static string Key(Instrument instrument, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            string key = instrument.Name;
            foreach (KeyValuePair<string, object?> tag in tags)
            {
                if (tag.Key == "tidepool.pool.name")
                {
                    Assert.Equal("metered", tag.Value);
                }
                else
                {
                    key += $" {tag.Value}";
                }
            }

            return key;
        }
    }
}
