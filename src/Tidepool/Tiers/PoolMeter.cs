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

        Counter("tidepool.rented", "{buffer}", "Rentals.", static s => s.Rented);
        Counter("tidepool.returned", "{buffer}", "Returns.", static s => s.Returned);
        Counter("tidepool.missed", "{buffer}", "Rentals that the source had to serve.", static s => s.Missed);
        Counter("tidepool.dropped", "{buffer}", "Returned buffers that no tier could keep.", static s => s.Dropped);
        Counter("tidepool.trimmed", "{buffer}", "Idle buffers that were given back.", static s => s.Trimmed);
        Counter("tidepool.misuses", "{misuse}", "Uses of the pool that were wrong.", static s => s.Misuses);
        Meter.CreateObservableUpDownCounter("tidepool.idle", () => Measure(static s => s.BytesIdle), "By", "Bytes that wait for a renter.");
        Meter.CreateObservableUpDownCounter("tidepool.leased", () => Measure(static s => s.BytesLeased), "By", "Bytes that are out.");
    }

    private static void Counter(string name, string unit, string what, Func<PoolStatistics, long> value) =>
        Meter.CreateObservableCounter(name, () => Measure(value), unit, what);

    private static IEnumerable<Measurement<long>> Measure(Func<PoolStatistics, long> value)
    {
        foreach (Station station in Trimmer.Snapshot())
        {
            yield return new Measurement<long>(value(station.GetStatistics()), new KeyValuePair<string, object?>("pool", station.Name));
        }
    }
}
