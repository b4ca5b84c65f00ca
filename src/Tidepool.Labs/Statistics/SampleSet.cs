using MathNet.Numerics.Statistics;

namespace Tidepool.Labs;

/// <summary>All samples of one workload: by process, then by round.</summary>
internal sealed class SampleSet
{
    private readonly List<List<Sample?>> _processes = [];

    /// <summary>Whether nothing was measured.</summary>
    public bool IsEmpty => !Samples.Any();

    /// <summary>Nanoseconds per operation: one array for each process, NaN where a round has no sample.</summary>
    public IReadOnlyList<double[]> Nanoseconds =>
        [.. _processes.Select(rounds => rounds.Select(sample => sample?.Nanoseconds ?? double.NaN).ToArray())];

    private IEnumerable<Sample> Samples => _processes.SelectMany(rounds => rounds).OfType<Sample>();

    /// <summary>Adds rounds of a process, after padding so that the first of them has the given number.</summary>
    public void Add(int process, int firstRound, IEnumerable<Sample?> rounds)
    {
        while (_processes.Count <= process)
        {
            _processes.Add([]);
        }

        var list = _processes[process];
        while (list.Count < firstRound)
        {
            list.Add(null);
        }

        list.AddRange(rounds);
    }

    /// <summary>
    /// Time of one operation, in nanoseconds: the median of each process, and of these the geometric mean, as a ratio is made.
    /// </summary>
    public double MedianNanoseconds => Math.Exp(
        _processes.Select(rounds => rounds.OfType<Sample>().Select(sample => sample.Nanoseconds).ToArray())
            .Where(times => times.Length > 0)
            .Average(times => Math.Log(times.Median())));

    /// <summary>Shortest time of one operation, in nanoseconds.</summary>
    public double MinimumNanoseconds => Samples.Min(sample => sample.Nanoseconds);

    /// <summary>Median of the batches' bytes per operation: a single trim or growth does not count, a habit does.</summary>
    public double BytesPerOperation => Samples.Select(sample => sample.Bytes).Median();

    /// <summary>Bytes per operation of the batch that allocated least, where what disturbs a batch can only add to it.</summary>
    public double LeastBytesPerOperation => Samples.Min(sample => sample.Bytes);

    /// <summary>Mean collections per 1000 operations.</summary>
    public (double Gen0, double Gen1, double Gen2) CollectionsPerThousand => (
        1000 * Samples.Average(sample => sample.Gen0),
        1000 * Samples.Average(sample => sample.Gen1),
        1000 * Samples.Average(sample => sample.Gen2));
}
