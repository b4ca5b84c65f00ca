using Tidepool.Labs;

namespace Tidepool.Bench;

/// <summary>A workload under the name that the benchmark's table shows.</summary>
public sealed class WorkloadParameter
{
    private readonly ILab _lab;
    private readonly Workload _workload;

    internal WorkloadParameter(ILab lab, Workload workload)
    {
        _lab = lab;
        _workload = workload;
    }

    internal Loop Create() =>
        _workload.Create() ?? throw new InvalidOperationException($"{_workload.Key.Subject}: {_workload.Missing}.");

    /// <inheritdoc/>
    public override string ToString() => $"{_lab.Name}: {_workload.Key.Cell.Describe()}: {_workload.Key.Subject}";
}
