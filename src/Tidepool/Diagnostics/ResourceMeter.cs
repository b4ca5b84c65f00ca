using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The resource instruments of the meter <c>Tidepool</c>. Sizes are read at each collection; times are taken, and events counted, only
/// while an instrument has a listener. What the conventions for connections do not name has the names of resources. Pools are held weakly.
/// A pool that was shut down is read as zeros until it is collected.
/// </summary>
internal sealed class ResourceMeter
{
    private static readonly ConditionalWeakTable<Meter, Dictionary<MeterNames, ResourceMeter>> Meters = [];
    private const string ReasonTag = "tidepool.destroy.reason";

    private static readonly string[] Reasons = [.. Enum.GetNames<DestroyReason>().Select(Telemetry.Snake)];

    private static readonly (ResourceGauge Gauge, string Name)[] States = [(ResourceGauge.Idle, "idle"), (ResourceGauge.Used, "used")];

    /// <summary>The bounds that the conventions name for databases. Without them exporters take bounds for milliseconds.</summary>
    private static readonly InstrumentAdvice<double> Seconds =
        new() { HistogramBucketBoundaries = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] };

    private readonly Lock _gate = new();
    private readonly List<WeakReference<IMeteredResources>> _pools = [];
    private readonly Counter<long> _timeouts;
    private readonly Counter<long> _rejected;
    private readonly Counter<long> _leaked;
    private readonly Counter<long> _destroyed;
    private readonly Counter<long> _createFailures;
    private readonly Histogram<double> _createTime;
    private readonly Histogram<double> _waitTime;
    private readonly Histogram<double> _useTime;

    private readonly MeterNames _names;

    private ResourceMeter(Meter meter, MeterNames names)
    {
        _names = names;
        string prefix = names.Prefix;
        string general = MeterNames.Resources.Prefix;
        Create(
            meter, prefix + "count", (m, n) => m.CreateObservableUpDownCounter(n, MeasureStates, names.Unit, "Resources, by state."));
        Gauge(meter, prefix + "max", names.Unit, "The largest size.", ResourceGauge.Max);
        if (names.HasIdleSizes)
        {
            Gauge(meter, prefix + "idle.max", names.Unit, "The most that may be idle.", ResourceGauge.Max);
            Gauge(meter, prefix + "idle.min", names.Unit, "The fewest that the pool keeps.", ResourceGauge.Min);
        }
        else
        {
            Gauge(meter, prefix + "min", names.Unit, "The smallest size.", ResourceGauge.Min);
        }

        Gauge(meter, prefix + "pending_requests", "{request}", "Rentals that wait.", ResourceGauge.Waiting);
        _timeouts = Counter(meter, prefix + "timeouts", "{timeout}", "Rentals that timed out.");
        _createTime = Time(meter, prefix + "create_time", "Time of successful creations.");
        _waitTime = Time(meter, prefix + "wait_time", "Time in the queue, of the rentals that waited.");
        _useTime = Time(meter, prefix + "use_time", "Time between rental and return.");
        _rejected = Counter(meter, general + "rejected", "{request}", "Rentals that were refused because the queue was full.");
        _leaked = Counter(meter, general + "leaked", "{lease}", "Leases that were overdue, or dropped and reclaimed.");
        _destroyed = Counter(meter, general + "destroyed", "{resource}", "Resources that were destroyed, by reason.");
        _createFailures = Counter(meter, general + "create_failures", "{failure}", "Creations that failed, by type of error.");
    }

    /// <summary>Whether times of waiting are worth taking.</summary>
    internal bool MeasuresWait => _waitTime.Enabled;

    /// <summary>Whether times of use are worth taking.</summary>
    internal bool MeasuresUse => _useTime.Enabled;

    /// <summary>The instruments on the factory's meter, or on the process's.</summary>
    internal static ResourceMeter Of(IMeterFactory? factory, MeterNames names)
    {
        Meter meter = factory?.Create(Telemetry.Name) ?? Telemetry.Meter;
        Dictionary<MeterNames, ResourceMeter> sets = Meters.GetValue(meter, static _ => []);
        lock (sets)
        {
            if (!sets.TryGetValue(names, out ResourceMeter? set))
            {
                sets.Add(names, set = new ResourceMeter(meter, names));
            }

            return set;
        }
    }

    internal void Add(IMeteredResources pool)
    {
        lock (_gate)
        {
            _pools.RemoveAll(static p => !p.TryGetTarget(out _));
            _pools.Add(new WeakReference<IMeteredResources>(pool));
        }
    }

    internal void TimedOut(in ResourceSeries series) => Count(_timeouts, series.Tags(_names.PoolTag));

    internal void Rejected(in ResourceSeries series) => Count(_rejected, series.Tags());

    internal void Leaked(in ResourceSeries series) => Count(_leaked, series.Tags());

    internal void Destroyed(in ResourceSeries series, DestroyReason reason) =>
        Count(_destroyed, series.Tags(), new(ReasonTag, Reasons[(int)reason]));

    internal void CreateFailed(in ResourceSeries series, Exception failure) =>
        Count(_createFailures, series.Tags(), new(Telemetry.ErrorTag, failure.GetType().FullName));

    internal void Created(in ResourceSeries series, long start) => Record(_createTime, series, start);

    internal void Waited(in ResourceSeries series, long start) => Record(_waitTime, series, start);

    internal void Used(in ResourceSeries series, long start) => Record(_useTime, series, start);

    private void Record(Histogram<double> histogram, in ResourceSeries series, long start)
    {
        // A start of 0 was taken before anybody listened.
        if (start != 0 && histogram.Enabled)
        {
            try
            {
                histogram.Record(Stopwatch.GetElapsedTime(start).TotalSeconds, series.Tags(_names.PoolTag));
            }
            catch (Exception)
            {
                // As below.
            }
        }
    }

    private static void Count(Counter<long> counter, TagList tags, KeyValuePair<string, object?> more)
    {
        tags.Add(more);
        Count(counter, tags);
    }

    private static void Count(Counter<long> counter, in TagList tags)
    {
        if (!counter.Enabled)
        {
            return;
        }

        try
        {
            counter.Add(1, tags);
        }
        catch (Exception)
        {
            // A listener's own: it was called in the middle of a rental or a return, which must go on.
        }
    }

    private void Gauge(Meter meter, string name, string unit, string what, ResourceGauge gauge) =>
        Create(meter, name, (m, n) => m.CreateObservableUpDownCounter(n, () => Measure(gauge), unit, what));

    private static Counter<long> Counter(Meter meter, string name, string unit, string what) =>
        Create(meter, name, (m, n) => m.CreateCounter<long>(n, unit, what));

    private static Histogram<double> Time(Meter meter, string name, string what) =>
        Create(meter, name, (m, n) => m.CreateHistogram(n, "s", what, tags: null, advice: Seconds));

    /// <summary>
    /// Makes an instrument. A listener that throws when it hears of it ends the call in its middle: the meter has the instrument all the
    /// same, so it is asked for it, and a pool is made as if no listener had thrown. Listeners behind the one that throws do not hear of
    /// the instrument.
    /// </summary>
    /// <param name="meter">The meter.</param>
    /// <param name="name">The name of the instrument.</param>
    /// <param name="create">Makes it.</param>
    private static T Create<T>(Meter meter, string name, Func<Meter, string, T> create)
        where T : Instrument
    {
        T? found = null;
        try
        {
            return create(meter, name);
        }
        catch (Exception) when ((found = Find<T>(meter, name)) is not null)
        {
            return found;
        }
    }

    private static T? Find<T>(Meter meter, string name)
        where T : Instrument
    {
        T? found = null;
        using var listener = new MeterListener
        {
            InstrumentPublished = (one, _) => found = one is T fitting && one.Meter == meter && one.Name == name ? fitting : found,
        };
        listener.Start(); // hears of all instruments that are there
        return found;
    }

    private IEnumerable<Measurement<int>> Measure(ResourceGauge gauge) =>
        from pool in Snapshot()
        from one in pool.Read(gauge)
        select new Measurement<int>(one.Value, new ResourceSeries(pool.Name, one.Key).Tags(_names.PoolTag));

    private IEnumerable<Measurement<int>> MeasureStates() =>
        from pool in Snapshot()
        from state in States
        from one in pool.Read(state.Gauge)
        let tags = new ResourceSeries(pool.Name, one.Key).Tags(_names.PoolTag)
        select new Measurement<int>(one.Value, [.. tags, new(_names.StateTag, state.Name)]);

    private Dictionary<string, IMeteredResources>.ValueCollection Snapshot()
    {
        lock (_gate)
        {
            // A pool that was shut down has given its name back, and a later one may have it: one series, of the one that came last.
            Dictionary<string, IMeteredResources> pools = [];
            foreach (WeakReference<IMeteredResources> weak in _pools)
            {
                if (weak.TryGetTarget(out IMeteredResources? pool))
                {
                    pools[pool.Name] = pool;
                }
            }

            return pools.Values;
        }
    }
}
