namespace Tidepool.Labs;

/// <summary>What a lab has measured so far.</summary>
internal sealed class LabResults(int seed)
{
    private readonly Dictionary<WorkloadKey, SampleSet> _samples = [];
    private readonly Dictionary<WorkloadKey, IReadOnlyDictionary<string, double>> _metrics = [];
    private readonly Dictionary<(WorkloadKey, WorkloadKey), RatioEstimate?> _ratios = [];
    private readonly Dictionary<string, RatioEstimate?> _means = [];
    private readonly Dictionary<WorkloadKey, string> _dropped = [];

    /// <summary>Rows that could not be measured, with the reason.</summary>
    public IReadOnlyDictionary<WorkloadKey, string> Dropped => _dropped;

    /// <summary>Seed of the bootstrap.</summary>
    public int Seed => seed;

    /// <summary>Adds rounds of a process.</summary>
    public void Add(WorkloadKey key, int process, int firstRound, IEnumerable<Sample?> rounds)
    {
        if (!_samples.TryGetValue(key, out var set))
        {
            _samples.Add(key, set = new SampleSet());
        }

        set.Add(process, firstRound, rounds);
        _ratios.Clear();
        _means.Clear();
    }

    /// <summary>Adds what a probe found.</summary>
    public void Add(WorkloadKey key, IReadOnlyDictionary<string, double> metrics) => _metrics[key] = metrics;

    /// <summary>Records that a row could not be measured.</summary>
    public void Drop(WorkloadKey key, string reason) => _dropped[key] = reason;

    /// <summary>Whether rounds of that workload are there.</summary>
    public bool Has(WorkloadKey key) => _samples.TryGetValue(key, out var set) && !set.IsEmpty;

    /// <summary>The samples of a workload, or null.</summary>
    public SampleSet? Samples(WorkloadKey key) => Has(key) ? _samples[key] : null;

    /// <summary>Median bytes allocated per operation; the workload must have samples.</summary>
    public double BytesPerOperation(WorkloadKey key) => _samples[key].BytesPerOperation;

    /// <summary>The metrics of a probe, or null.</summary>
    public IReadOnlyDictionary<string, double>? Metrics(WorkloadKey key) => _metrics.GetValueOrDefault(key);

    /// <summary>One metric of a probe, or null.</summary>
    public double? Metric(WorkloadKey key, string metric) =>
        _metrics.TryGetValue(key, out var metrics) && metrics.TryGetValue(metric, out double value) ? value : null;

    /// <summary>The geometric mean of the paired ratios of two subjects over groups of cells, or null when a pair is missing.</summary>
    public RatioEstimate? MeanRatio(IReadOnlyList<CellGroup> groups, string numerator, string denominator)
    {
        WorkloadKey[] needed =
            [
                .. from name in (string[])[numerator, denominator]
                   from cell in groups.SelectMany(cells => cells.Cells)
                   select new WorkloadKey(cell, name)
            ];
        if (!Array.TrueForAll(needed, Has))
        {
            return null;
        }

        string key = string.Join('|', [numerator, denominator, .. groups.Select(group => group.Name)]);
        if (!_means.TryGetValue(key, out var mean))
        {
            mean = PairedRatio.EstimateMean(
                [
                    .. groups.Select(group => group.Cells
                        .Select(cell => (_samples[new(cell, numerator)].Nanoseconds, _samples[new(cell, denominator)].Nanoseconds))
                        .ToArray())
                ],
                seed);
            _means.Add(key, mean);
        }

        return mean;
    }

    /// <summary>
    /// How much more one subject's time grows between two workloads than another subject's does, or null when no round has all four.
    /// </summary>
    public RatioEstimate? Scaling((WorkloadKey Two, WorkloadKey One) ours, (WorkloadKey Two, WorkloadKey One) other)
    {
        return PairedRatio.Estimate(Products(ours.Two, other.One), Products(ours.One, other.Two), seed);

        double[][] Products(WorkloadKey first, WorkloadKey second) =>
        [
            .. _samples[first].Nanoseconds.Zip(
                _samples[second].Nanoseconds, static (a, b) => a.Zip(b, static (x, y) => x * y).ToArray()),
        ];
    }

    /// <summary>The paired ratio of two workloads, or null when a pair of rounds is missing.</summary>
    public RatioEstimate? Ratio(WorkloadKey numerator, WorkloadKey denominator)
    {
        if (!Has(numerator) || !Has(denominator))
        {
            return null;
        }

        if (!_ratios.TryGetValue((numerator, denominator), out var ratio))
        {
            ratio = PairedRatio.Estimate(_samples[numerator].Nanoseconds, _samples[denominator].Nanoseconds, seed);
            _ratios.Add((numerator, denominator), ratio);
        }

        return ratio;
    }
}
