namespace Tidepool.Advice;

/// <summary>One measurement of a meter.</summary>
/// <param name="Meter">The meter's name.</param>
/// <param name="Instrument">The instrument's name.</param>
/// <param name="Tags">Its tags as they were written.</param>
/// <param name="Value">The value, for a counter since the listener began; for a histogram its count.</param>
internal readonly record struct MeterValue(string Meter, string Instrument, string Tags, double Value);

/// <summary>One answer of a pool of Tidepool. Numbers that its kind has not are -1.</summary>
internal sealed record PoolSample
{
    public required string Name { get; init; }
    public string Kind { get; init; } = "";
    public long Rented { get; init; }
    public long Returned { get; init; }
    public long Missed { get; init; }
    public long Dropped { get; init; }
    public long Idle { get; init; }
    public long Leased { get; init; }
    public long BytesIdle { get; init; } = -1;
    public long BytesLeased { get; init; } = -1;
    public long Misuses { get; init; }
    public long Failed { get; init; }
    public int Waiting { get; init; } = -1;
    public int MaxSize { get; init; } = -1;
    public long OldestMilliseconds { get; init; } = -1;
    public string OldestSite { get; init; } = "";
    public long Trimmed { get; init; }
    public long Refused { get; init; }
    public long BudgetBytes { get; init; } = -1;
    public string MisuseKinds { get; init; } = "";
    public int PoolId { get; init; }
    public int ElementBytes { get; init; }
    public double Seconds { get; init; }
}

/// <summary>Gathers what a process writes and makes a frame of it. Knows no session, clock or screen; not thread-safe.</summary>
internal sealed class WatchAccumulator
{
    private readonly Dictionary<(string Instrument, string Tags), double> _runtime = [];
    private readonly Dictionary<MeterPlace, Dictionary<string, double>> _places = [];
    private readonly Dictionary<MeterPlace, Rate> _uses = [];
    private readonly Dictionary<string, PoolRates> _poolRates = [];
    private readonly List<PoolSample> _round = [];
    private readonly Dictionary<(int Generation, string Reason), int> _collections = [];
    private readonly Rate _allocated = new();
    private readonly Rate _processorTime = new();
    private List<PoolSample> _pools = [];
    private double _pause;
    private double _longestPause;
    private double _lastFrame;

    /// <summary>Adds a measurement of a meter.</summary>
    public void Add(in MeterValue value)
    {
        if (value.Meter == "System.Runtime")
        {
            _runtime[(value.Instrument, value.Tags)] = value.Value;
        }

        if (MeterMap.PlaceOf(value.Meter, value.Instrument, MeterTags.Parse(value.Tags)) is not { } place)
        {
            return;
        }

        if (!_places.TryGetValue(place, out var series))
        {
            _places.Add(place, series = []);
        }

        series[$"{value.Instrument} {value.Tags}"] = value.Value;
    }

    /// <summary>The meters have written all their values of one moment: only now do several series of one thing fit together.</summary>
    public void EndMeters(double seconds)
    {
        if (SumOf("dotnet.gc.heap.total_allocated") is { } allocated)
        {
            _allocated.Add(allocated, seconds);
        }

        if (SumOf("dotnet.process.cpu.time") is { } processorTime)
        {
            _processorTime.Add(processorTime, seconds);
        }

        foreach (var (place, series) in _places.Where(static place => place.Key.Column == MeterColumn.Uses))
        {
            Rate uses = _uses.TryGetValue(place, out var known) ? known : _uses[place] = new Rate();
            uses.Add(series.Values.Sum(), seconds);
        }
    }

    /// <summary>Adds the answer of one pool.</summary>
    public void Add(PoolSample sample) => _round.Add(sample);

    /// <summary>All pools have answered: those that did not are gone.</summary>
    public void EndRound()
    {
        _pools = [.. _round];
        _round.Clear();
        foreach (var pool in _pools)
        {
            PoolRates rates = _poolRates.TryGetValue(pool.Name, out var known) ? known : _poolRates[pool.Name] = new PoolRates();
            rates.Rented.Add(pool.Rented, pool.Seconds);
            rates.Missed.Add(pool.Missed, pool.Seconds);
        }

        foreach (string gone in _poolRates.Keys.Except(_pools.Select(static pool => pool.Name)).ToArray())
        {
            _poolRates.Remove(gone);
        }
    }

    /// <summary>A collection has begun.</summary>
    public void AddCollection(int generation, string reason) =>
        _collections[(generation, reason)] = _collections.GetValueOrDefault((generation, reason)) + 1;

    /// <summary>A collection has paused the process.</summary>
    public void AddPause(double milliseconds)
    {
        _pause += milliseconds;
        _longestPause = Math.Max(_longestPause, milliseconds);
    }

    /// <summary>The frame of the time since the last one.</summary>
    /// <param name="seconds">The seconds since the watch began.</param>
    public WatchFrame Take(double seconds)
    {
        double interval = Math.Max(seconds - _lastFrame, 1e-3);
        var frame = new WatchFrame
        {
            Seconds = seconds,
            AllocatedPerSecond = _allocated.PerSecond,
            HeapBytes = SumOf("dotnet.gc.last_collection.heap.size"),
            WorkingSet = SumOf("dotnet.process.memory.working_set"),
            Processors = _processorTime.PerSecond,
            Collections =
            [
                .. _collections.OrderBy(static c => c.Key.Generation).ThenBy(static c => c.Key.Reason, StringComparer.Ordinal)
                    .Select(c => new CollectionCount(c.Key.Generation, c.Key.Reason, c.Value / interval)),
            ],
            PauseMilliseconds = _pause / interval,
            LongestPauseMilliseconds = _longestPause,
            Pools = [.. _pools.Select(RowOf)],
            Metered = [.. MeteredRows()],
        };
        (_lastFrame, _pause, _longestPause) = (seconds, 0, 0);
        _collections.Clear();
        return frame;
    }

    private double? SumOf(string instrument)
    {
        double[] values = [.. _runtime.Where(series => series.Key.Instrument == instrument).Select(static series => series.Value)];
        return values.Length == 0 ? null : values.Sum();
    }

    private PoolRow RowOf(PoolSample pool)
    {
        PoolRates rates = _poolRates[pool.Name];
        return new PoolRow
        {
            Name = pool.Name,
            Kind = pool.Kind,
            RentedPerSecond = rates.Rented.PerSecond,
            HitRate = rates.Rented.Growth is > 0 and var rented && rates.Missed.Growth is { } missed
                ? Math.Clamp(1 - missed / rented, 0, 1)
                : null,
            Idle = pool.Idle,
            Leased = pool.Leased,
            BytesIdle = pool.BytesIdle < 0 ? null : pool.BytesIdle,
            BytesLeased = pool.BytesLeased < 0 ? null : pool.BytesLeased,
            Misuses = pool.Misuses,
            Failed = pool.Failed,
            Waiting = pool.Waiting < 0 ? null : pool.Waiting,
            MaxSize = pool.MaxSize < 0 ? null : pool.MaxSize,
            OldestMilliseconds = pool.OldestMilliseconds < 0 ? null : pool.OldestMilliseconds,
            OldestSite = pool.OldestSite.Length == 0 ? null : pool.OldestSite,
        };
    }

    private IEnumerable<MeteredRow> MeteredRows() =>
        from place in _places
        group place by (place.Key.Row, place.Key.Unit) into row
        orderby row.Key.Row
        // Counts of changes begin with the watch: what was open before and closes now would make them negative.
        let columns = row.ToDictionary(static place => place.Key.Column, static place => (double?)Math.Max(0, place.Value.Values.Sum()))
        select new MeteredRow
        {
            Name = row.Key.Row,
            Unit = row.Key.Unit,
            Idle = columns.GetValueOrDefault(MeterColumn.Idle),
            Used = columns.GetValueOrDefault(MeterColumn.Used),
            Max = columns.GetValueOrDefault(MeterColumn.Max),
            Waiting = columns.GetValueOrDefault(MeterColumn.Waiting),
            PerSecond = _uses.GetValueOrDefault(new MeterPlace(row.Key.Row, MeterColumn.Uses, row.Key.Unit))?.PerSecond,
        };

    private sealed class PoolRates
    {
        public Rate Rented { get; } = new();

        public Rate Missed { get; } = new();
    }
}
