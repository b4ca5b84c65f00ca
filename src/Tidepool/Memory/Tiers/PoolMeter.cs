using System.Diagnostics.Metrics;

namespace Tidepool;

/// <summary>
/// What buffer, object and stream pools add to the meter <c>Tidepool</c>: observable instruments, which cost nothing without a listener.
/// </summary>
internal static class PoolMeter
{
    private const string StateTag = "tidepool.item.state";
    private const string KindTag = "tidepool.misuse.kind";

    private static readonly string[] Kinds = Array.ConvertAll(MisuseText.Names, Telemetry.Snake);
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
        Counter(
            "tidepool.dropped",
            "{item}",
            "Returned items that were discarded because the pool was full or disposed.",
            static s => s.Dropped);
        Counter("tidepool.trimmed", "{item}", "Idle items that were given up.", static s => s.Trimmed);
        Counter("tidepool.refused", "{item}", "Objects that could not be reset or were not valid any more.", static s => s.Refused);
        Counter("tidepool.failures", "{failure}", "Exceptions of policies that no caller got.", static s => s.Failures);
        Counter("tidepool.misuses", "{misuse}", "Misuse that was noticed, by kind.", CountMisuses);
        Gauge("tidepool.items", "{item}", "Items by state: idle or leased.", CountItems);
        Gauge("tidepool.bytes", "By", "Bytes by state: idle or leased.", CountBytes);
    }

    private static void Counter(string name, string unit, string what, Func<PoolStatistics, long> value) =>
        Counter(name, unit, what, () => Measure(value));

    private static void Counter(string name, string unit, string what, Func<IEnumerable<Measurement<long>>> measure)
    {
        try
        {
            Telemetry.Meter.CreateObservableCounter(name, measure, unit, what);
        }
        catch (Exception)
        {
            // A listener's own, when it heard of the instrument. The meter has it all the same.
        }
    }

    private static void Gauge(string name, string unit, string what, Func<IEnumerable<Measurement<long>>> measure)
    {
        try
        {
            Telemetry.Meter.CreateObservableUpDownCounter(name, measure, unit, what);
        }
        catch (Exception)
        {
            // As above.
        }
    }

    private static IEnumerable<Measurement<long>> CountItems() => ByState(static s => s.Idle, static s => s.Leased);

    private static IEnumerable<Measurement<long>> CountBytes() => ByState(static s => s.BytesIdle, static s => s.BytesLeased);

    private static IEnumerable<Measurement<long>> ByState(Func<PoolStatistics, long> idle, Func<PoolStatistics, long> leased)
    {
        foreach (TieredPool pool in Trimmer.Snapshot())
        {
            PoolStatistics statistics = pool.GetStatistics();
            yield return new Measurement<long>(idle(statistics), Tag(pool), new(StateTag, "idle"));
            yield return new Measurement<long>(leased(statistics), Tag(pool), new(StateTag, "leased"));
        }
    }

    /// <summary>Every kind, also those that were never seen: a series that begins with its first misuse hides it from a rate.</summary>
    private static IEnumerable<Measurement<long>> CountMisuses()
    {
        foreach (TieredPool pool in Trimmer.Snapshot())
        {
            PoolStatistics statistics = pool.GetStatistics();
            for (int kind = 0; kind < Kinds.Length; kind++)
            {
                yield return new Measurement<long>(statistics.GetMisuse((MisuseKind)kind), Tag(pool), new(KindTag, Kinds[kind]));
            }
        }
    }

    private static IEnumerable<Measurement<long>> Measure(Func<PoolStatistics, long> value)
    {
        foreach (TieredPool pool in Trimmer.Snapshot())
        {
            yield return new Measurement<long>(value(pool.GetStatistics()), Tag(pool));
        }
    }

    private static KeyValuePair<string, object?> Tag(TieredPool pool) => new(Telemetry.PoolTag, pool.Name);
}
