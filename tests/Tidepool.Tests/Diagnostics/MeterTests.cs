using System.Diagnostics.Metrics;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

[Collection(SharedPoolsCollection.Name)]
public sealed class MeterTests : PoolTest
{
    [Fact]
    public void The_meter_tells_the_statistics_of_each_pool_under_its_name()
    {
        BufferPool<byte> pool = NewPool<byte>(
            new() { Name = "metered", Checks = PoolChecks.Default, Sizes = SizeClasses.FromLengths(1000) });
        BufferLease<byte>[] leases = [pool.Rent(1000), pool.Rent(1000), pool.Rent(1000)];
        leases[0].Return();
        leases[0].Dispose();
        Assert.Throws<PoolMisuseException>(() => leases[0].Return());
        pool.Rent(1001).Return();

        Dictionary<string, List<double>> measured = Measure("metered");
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Contains((double)statistics.Rented, Values(measured, "rent"));
        Assert.Contains((double)statistics.Returned, Values(measured, "return"));
        Assert.Contains((double)statistics.BytesIdle, Values(measured, "idle"));
        Assert.Contains((double)statistics.BytesLeased, Values(measured, "leased"));
        Assert.Contains((double)statistics.Missed, Values(measured, "miss"));
        Assert.Contains((double)statistics.Dropped, Values(measured, "drop"));
        Array.ForEach(leases[1..], l => l.Return());
    }

    [Fact]
    public void Object_pools_tell_theirs_too()
    {
        ObjectPool<Gadget> pool = ObjectPool<Gadget>.Create(
            static () => new Gadget(), static i => i.TryReset(), new() { Name = "metered objects" });
        Watch(pool);
        ObjectLease<Gadget>[] leases = [pool.Rent(), pool.Rent(), pool.Rent(), pool.Rent()];
        leases[0].Value.IsSpoiled = true;
        leases[1].Value.ThrowsOnDispose = new TimeoutException();
        leases[1].Value.IsSpoiled = true;
        Array.ForEach(leases[..3], l => l.Return());

        Dictionary<string, List<double>> measured = Measure("metered objects");
        Assert.Equal([4.0], measured["tidepool.rented metered objects"]);
        Assert.Equal([3.0], measured["tidepool.returned metered objects"]);
        Assert.Equal([4.0], measured["tidepool.missed metered objects"]);
        Assert.Equal([2.0], measured["tidepool.refused metered objects"]);
        Assert.Equal([1.0], measured["tidepool.failures metered objects"]);
        Assert.Equal([1024.0], measured["tidepool.bytes metered objects idle"]);
        Assert.Equal([1.0], measured["tidepool.items metered objects idle"]);
        Assert.Equal([1.0], measured["tidepool.items metered objects leased"]);
        leases[3].Return();
        measured = Measure("metered objects");
        Assert.Equal([2.0], measured["tidepool.items metered objects idle"]);
        Assert.Equal([0.0], measured["tidepool.items metered objects leased"]);
    }

    [Fact]
    public void A_disposed_pool_leaves_the_meter()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "metered and gone" });
        pool.Rent(10).Return();
        Assert.NotEmpty(Measure("metered and gone"));
        pool.Dispose();
        Assert.Empty(Measure("metered and gone"));
    }

    [Fact]
    public void Looking_at_the_meter_keeps_no_pool_alive()
    {
        WeakReference pool = MeasureADroppedPool();
        Eventually.TrueAfterCollections(() => !pool.IsAlive, "the dropped pool to be collected");
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static WeakReference MeasureADroppedPool()
    {
        BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = "metered and dropped" });
        pool.Rent(10).Return();
        Assert.NotEmpty(Measure("metered and dropped"));
        return new WeakReference(pool);
    }

    private static IEnumerable<double> Values(Dictionary<string, List<double>> measured, string part) =>
        measured.Where(m => m.Key.Contains(part, StringComparison.OrdinalIgnoreCase)).SelectMany(m => m.Value);

    private static Dictionary<string, List<double>> Measure(string pool)
    {
        Dictionary<string, List<double>> measured = [];
        using MeterListener listener = new();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (instrument.Meter.Name == "Tidepool")
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Take(instrument, value, tags));
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Take(instrument, value, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        return measured;

        void Take(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            string key = instrument.Name;
            bool mine = false;
            foreach (KeyValuePair<string, object?> tag in tags)
            {
                mine |= tag.Value as string == pool;
                key += $" {tag.Value}";
            }

            if (mine)
            {
                if (!measured.TryGetValue(key, out List<double>? values))
                {
                    measured.Add(key, values = []);
                }

                values.Add(value);
            }
        }
    }
}
