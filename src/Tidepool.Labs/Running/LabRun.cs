namespace Tidepool.Labs;

/// <summary>A lab while it runs.</summary>
internal sealed class LabRun(ILab lab, LabPlan plan, LabResults results)
{
    private readonly Dictionary<WorkloadKey, int> _indices =
        plan.Workloads.Select((workload, index) => (workload.Key, index)).ToDictionary(pair => pair.Key, pair => pair.index);

    private readonly ILookup<WorkloadKey, PhaseRow> _phases = plan.Derived.OfType<PhaseRow>().ToLookup(phase => phase.Of);

    /// <summary>The lab.</summary>
    public ILab Lab => lab;

    /// <summary>Its plan; the children make the same.</summary>
    public LabPlan Plan => plan;

    /// <summary>What was found so far.</summary>
    public LabResults Results => results;

    /// <summary>Processes that have measured.</summary>
    public int Processes { get; set; }

    /// <summary>The place of a workload in the plan.</summary>
    public int IndexOf(WorkloadKey key) => _indices[key];

    /// <summary>The workloads to measure.</summary>
    public IEnumerable<int> SelectWorkloads(LabRunOptions options) =>
        _indices.Where(pair => options.Select?.Invoke(pair.Key) ?? true).Select(pair => pair.Value);

    /// <summary>The probes to run.</summary>
    public IEnumerable<int> SelectProbes(LabRunOptions options, bool waits)
    {
        for (int index = 0; index < plan.Probes.Count; index++)
        {
            if (plan.Probes[index].Waits == waits && (options.Select?.Invoke(plan.Probes[index].Key) ?? true))
            {
                yield return index;
            }
        }
    }

    /// <summary>Records rounds of a workload, and of the rows that are its phases.</summary>
    public void AddRounds(int workload, int process, int firstRound, IReadOnlyList<Sample?> rounds)
    {
        var key = plan.Workloads[workload].Key;
        results.Add(key, process, firstRound, rounds);
        foreach (var phase in _phases[key])
        {
            results.Add(phase.Key, process, firstRound, rounds.Select(phase.Select));
        }
    }

    /// <summary>Records what a probe found.</summary>
    public void AddProbe(int index, ProbeReply reply)
    {
        var probe = plan.Probes[index];
        if (reply.Metrics is null)
        {
            results.Drop(probe.Key, probe.Missing);
        }
        else
        {
            results.Add(probe.Key, reply.Metrics);
        }
    }

    /// <summary>Does something for a row; when its process fails, the row is dropped with the reason.</summary>
    public async Task TryAsync(WorkloadKey key, Func<Task> act)
    {
        try
        {
            await act();
        }
        catch (LabProcessException failure)
        {
            results.Drop(key, failure.Message);
        }
    }

    /// <summary>Drops the workloads that have no sample.</summary>
    public void DropWithoutSamples(IEnumerable<int> workloads, string reason)
    {
        foreach (int index in workloads.Where(index => !results.Has(plan.Workloads[index].Key)))
        {
            results.Drop(plan.Workloads[index].Key, reason);
        }
    }
}
