using System.Diagnostics.Metrics;

namespace Tidepool;

/// <summary>The meter <c>Tidepool</c>: observable instruments with the tag <c>pool</c>. They cost nothing while nobody listens.</summary>
internal static class PoolMeter
{
    private static readonly Meter Meter = new("Tidepool");
    private static int s_started;

    /// <summary>Makes the instruments once.</summary>
    internal static void Start()
    {
        if (Interlocked.Exchange(ref s_started, 1) != 0)
        {
            return;
        }

        Counter("tidepool.rented", "{item}", "Rentals.", static s => s.Rented);
        Counter("tidepool.returned", "{item}", "Returns.", static s => s.Returned);
        Counter("tidepool.missed", "{item}", "Rentals for which a new item was made.", static s => s.Missed);
        Counter("tidepool.dropped", "{item}", "Returned items that no tier could keep.", static s => s.Dropped);
        Counter("tidepool.trimmed", "{item}", "Idle items that were given up.", static s => s.Trimmed);
        Counter("tidepool.refused", "{item}", "Objects that could not be reset or were not valid any more.", static s => s.Refused);
        Counter("tidepool.failures", "{failure}", "Exceptions of policies that no caller got.", static s => s.Failures);
        Counter("tidepool.misuses", "{misuse}", "Uses of the pool that were wrong.", static s => s.Misuses);
        Meter.CreateObservableUpDownCounter("tidepool.items", CountItems, "{item}", "Items by state: idle or leased.");
        Meter.CreateObservableUpDownCounter("tidepool.idle", () => Measure(static s => s.BytesIdle), "By", "Bytes that wait for a renter.");
        Meter.CreateObservableUpDownCounter("tidepool.leased", () => Measure(static s => s.BytesLeased), "By", "Bytes that are out.");
    }

    private static void Counter(string name, string unit, string what, Func<PoolStatistics, long> value) =>
        Meter.CreateObservableCounter(name, () => Measure(value), unit, what);

    private static IEnumerable<Measurement<long>> CountItems()
    {
        foreach (Station station in Trimmer.Snapshot())
        {
            PoolStatistics statistics = station.GetStatistics();
            var pool = new KeyValuePair<string, object?>("pool", station.Name);
            yield return new Measurement<long>(statistics.Idle, pool, new("state", "idle"));
            yield return new Measurement<long>(statistics.Leased, pool, new("state", "leased"));
        }
    }

    private static IEnumerable<Measurement<long>> Measure(Func<PoolStatistics, long> value)
    {
        foreach (Station station in Trimmer.Snapshot())
        {
            yield return new Measurement<long>(value(station.GetStatistics()), new KeyValuePair<string, object?>("pool", station.Name));
        }
    }
}
