using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using System.Text;

namespace Tidepool;

/// <summary>
/// The resource instruments of the meter <c>Tidepool</c>. Sizes are read when somebody collects; times are taken, and events counted, only
/// while somebody listens. Pools are held weakly. A pool that was shut down goes on being read, as zeros, until it is collected.
/// </summary>
internal sealed class ResourceMeter
{
    private const string NameTag = "pool.name";
    private static readonly Meter Own = new("Tidepool");
    private static readonly ConditionalWeakTable<Meter, ResourceMeter> Meters = [];
    private static readonly string[] Reasons = [.. Enum.GetNames<DestroyReason>().Select(Snake)];

    private static readonly (ResourceGauge Gauge, string Name)[] States = [(ResourceGauge.Idle, "idle"), (ResourceGauge.Used, "used")];

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

    private ResourceMeter(Meter meter)
    {
        meter.CreateObservableUpDownCounter("pool.resource.count", MeasureStates, "{resource}", "Resources, by state.");
        Gauge(meter, "pool.resource.max", "{resource}", "The largest size.", ResourceGauge.Max);
        Gauge(meter, "pool.resource.min", "{resource}", "The smallest size.", ResourceGauge.Min);
        Gauge(meter, "pool.resource.pending_requests", "{request}", "Rentals that wait.", ResourceGauge.Waiting);
        _timeouts = meter.CreateCounter<long>("pool.resource.timeouts", "{timeout}", "Rentals that timed out.");
        _rejected = meter.CreateCounter<long>("pool.resource.rejected", "{request}", "Rentals that were refused because the queue was full.");
        _leaked = meter.CreateCounter<long>("pool.resource.leaked", "{lease}", "Leases that were overdue, or dropped and reclaimed.");
        _destroyed = meter.CreateCounter<long>("pool.resource.destroyed", "{resource}", "Resources that were ended, by reason.");
        _createFailures = meter.CreateCounter<long>("pool.resource.create_failures", "{failure}", "Creations that failed, by type of error.");
        _createTime = meter.CreateHistogram<double>("pool.resource.create_time", "s", "Time of successful creations.");
        _waitTime = meter.CreateHistogram<double>("pool.resource.wait_time", "s", "Time in the queue, of the rentals that waited.");
        _useTime = meter.CreateHistogram<double>("pool.resource.use_time", "s", "Time between rental and return.");
    }

    /// <summary>Whether times of waiting are worth taking.</summary>
    internal bool MeasuresWait => _waitTime.Enabled;

    /// <summary>Whether times of use are worth taking.</summary>
    internal bool MeasuresUse => _useTime.Enabled;

    /// <summary>The instruments on the factory's meter, or on the process's.</summary>
    internal static ResourceMeter Of(IMeterFactory? factory) =>
        Meters.GetValue(factory?.Create("Tidepool") ?? Own, static meter => new ResourceMeter(meter));

    internal void Add(IMeteredResources pool)
    {
        lock (_gate)
        {
            _pools.RemoveAll(static p => !p.TryGetTarget(out _));
            _pools.Add(new WeakReference<IMeteredResources>(pool));
        }
    }

    internal void TimedOut(string pool) => Count(_timeouts, pool);

    internal void Rejected(string pool) => Count(_rejected, pool);

    internal void Leaked(string pool) => Count(_leaked, pool);

    internal void Destroyed(string pool, DestroyReason reason) => Count(_destroyed, pool, "reason", Reasons[(int)reason]);

    internal void CreateFailed(string pool, Exception failure) => Count(_createFailures, pool, "error.type", failure.GetType().FullName);

    internal void Created(string pool, long start) => Record(_createTime, pool, start);

    internal void Waited(string pool, long start) => Record(_waitTime, pool, start);

    internal void Used(string pool, long start) => Record(_useTime, pool, start);

    private static void Record(Histogram<double> histogram, string pool, long start)
    {
        // A start of 0 was taken before anybody listened.
        if (histogram.Enabled && start != 0)
        {
            try
            {
                histogram.Record(Stopwatch.GetElapsedTime(start).TotalSeconds, Tag(pool));
            }
            catch (Exception)
            {
                // As below.
            }
        }
    }

    private static void Count(Counter<long> counter, string pool, string? tag = null, string? value = null)
    {
        if (!counter.Enabled)
        {
            return;
        }

        try
        {
            if (tag is null)
            {
                counter.Add(1, Tag(pool));
            }
            else
            {
                counter.Add(1, Tag(pool), new KeyValuePair<string, object?>(tag, value));
            }
        }
        catch (Exception)
        {
            // A listener's own: it was called in the middle of a rental or a return, which must go on.
        }
    }

    private static KeyValuePair<string, object?> Tag(string pool) => new(NameTag, pool);

    private void Gauge(Meter meter, string name, string unit, string what, ResourceGauge gauge) =>
        meter.CreateObservableUpDownCounter(name, () => Measure(gauge), unit, what);

    private IEnumerable<Measurement<int>> Measure(ResourceGauge gauge) =>
        Snapshot().Select(pool => new Measurement<int>(pool.Read(gauge), Tag(pool.Name)));

    private IEnumerable<Measurement<int>> MeasureStates() =>
        from pool in Snapshot()
        from state in States
        select new Measurement<int>(pool.Read(state.Gauge), Tag(pool.Name), new KeyValuePair<string, object?>("state", state.Name));

    private List<IMeteredResources> Snapshot()
    {
        lock (_gate)
        {
            List<IMeteredResources> pools = [];
            foreach (WeakReference<IMeteredResources> weak in _pools)
            {
                if (weak.TryGetTarget(out IMeteredResources? pool))
                {
                    pools.Add(pool);
                }
            }

            return pools;
        }
    }

    private static string Snake(string name)
    {
        var text = new StringBuilder();
        foreach (char letter in name)
        {
            if (char.IsUpper(letter) && text.Length > 0)
            {
                text.Append('_');
            }

            text.Append(char.ToLowerInvariant(letter));
        }

        return text.ToString();
    }
}
