using BenchmarkDotNet.Attributes;
using Tidepool.Labs;

namespace Tidepool.Bench;

/// <summary>The workloads of all labs as benchmarks: a new lab or subject appears here by itself.</summary>
public class LabBenchmarks
{
    private const int Operations = 1024;
    private Loop? _loop;

    /// <summary>The subject in its cell.</summary>
    [ParamsSource(nameof(Workloads))]
    public WorkloadParameter Workload { get; set; } = null!;

    /// <summary>What the labs measure in rounds, in their quick form.</summary>
    public static IEnumerable<WorkloadParameter> Workloads =>
        from lab in LabCatalog.All
        from workload in LabPlan.Of(lab, LabMode.Quick).Workloads
        where workload.FixedOperations == 0
        select new WorkloadParameter(lab, workload);

    /// <summary>Makes the loop.</summary>
    /// <exception cref="InvalidOperationException">The subject is not there.</exception>
    [GlobalSetup]
    public void Setup() => _loop = Workload.Create();

    /// <summary>Runs a batch; BenchmarkDotNet divides by the operations.</summary>
    [Benchmark(OperationsPerInvoke = Operations)]
    public void Rent() => _loop!.Run(Operations);

    /// <summary>Ends the loop.</summary>
    [GlobalCleanup]
    public void Cleanup() => _loop?.Dispose();
}
