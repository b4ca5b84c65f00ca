namespace Tidepool.Labs;

/// <summary>The least time of an operation in nanoseconds, for what is too short to be compared with a rival's.</summary>
/// <remarks>Takes the least of all rounds: on a shared machine the others measure the neighbours.</remarks>
internal sealed class LeastTimeRule(Bar bar, params IReadOnlyList<WorkloadKey> keys) : WorstRule(bar, keys)
{
    /// <inheritdoc/>
    protected override double? Read(LabResults results, WorkloadKey key) => results.Samples(key)?.MinimumNanoseconds;

    /// <inheritdoc/>
    protected override string Describe(double value, int count, WorkloadKey worst) =>
        $"{Text(value)} ns, highest of {count}: {worst.Subject}, {worst.Cell.Describe()}";
}
