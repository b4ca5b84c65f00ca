namespace Tidepool.Labs;

/// <summary>How much of a lab's grid is measured.</summary>
internal enum LabMode
{
    /// <summary>The subset that a newcomer waits for: three processes, about ten seconds.</summary>
    Quick,

    /// <summary>The whole grid: seven processes.</summary>
    Full,
}

/// <summary>What a lab measures and how it judges; filled by <see cref="ILab.Describe"/>.</summary>
internal sealed class LabPlan(LabMode mode)
{
    private readonly List<Workload> _workloads = [];
    private readonly List<Probe> _probes = [];
    private readonly List<DerivedRow> _derived = [];
    private readonly List<VerdictRule> _rules = [];
    private readonly Dictionary<WorkloadKey, Workload> _byKey = [];

    /// <summary>Quick or full.</summary>
    public LabMode Mode { get; } = mode;

    /// <summary>Versions of the rivals, by name.</summary>
    public SortedDictionary<string, string> Rivals { get; } = new(StringComparer.Ordinal);

    /// <summary>What is measured in rounds, in the order of the tables.</summary>
    public IReadOnlyList<Workload> Workloads => _workloads;

    /// <summary>What is measured once.</summary>
    public IReadOnlyList<Probe> Probes => _probes;

    /// <summary>Rows that come from measured ones, in the order of the tables.</summary>
    public IReadOnlyList<DerivedRow> Derived => _derived;

    /// <summary>What the reader should know about rows that cannot be measured here: one line each, with the command that helps.</summary>
    public List<string> Hints { get; } = [];

    /// <summary>How the results are judged.</summary>
    public IReadOnlyList<VerdictRule> Rules => _rules;

    /// <summary>Fresh processes that repeat the whole.</summary>
    public int Processes { get; set; } = mode == LabMode.Quick ? 3 : 7;

    /// <summary>Rounds in each process before any doubling.</summary>
    public int Rounds { get; set; } = mode == LabMode.Quick ? 12 : 20;

    /// <summary>How often the rounds of what is unclear are doubled.</summary>
    public int Doublings { get; set; } = 2;

    /// <summary>Length of a timed batch on one thread, in microseconds.</summary>
    public int BatchMicroseconds { get; set; } = mode == LabMode.Quick ? 500 : 1500;

    /// <summary>Makes the plan of a lab.</summary>
    public static LabPlan Of(ILab lab, LabMode mode)
    {
        var plan = new LabPlan(mode);
        lab.Describe(plan);
        return plan;
    }

    /// <summary>Adds a workload.</summary>
    /// <exception cref="ArgumentException">The cell already has that subject.</exception>
    public void Add(Workload workload)
    {
        _byKey.Add(workload.Key, workload);
        _workloads.Add(workload);
    }

    /// <summary>Adds a probe.</summary>
    public void Add(Probe probe) => _probes.Add(probe);

    /// <summary>Adds a row that comes from measured ones.</summary>
    public void Add(DerivedRow row) => _derived.Add(row);

    /// <summary>Adds a verdict rule.</summary>
    /// <exception cref="InvalidOperationException">
    /// The rule needs a workload or a probe that the plan lacks; or it needs none, and says no reason as an <see cref="OmittedRule"/> does.
    /// </exception>
    public void Add(VerdictRule rule)
    {
        if (rule is not OmittedRule && !rule.Needs.Any())
        {
            throw new InvalidOperationException($"Verdict '{rule.Bar.Id}' judges nothing of this plan: omit it, with a reason.");
        }

        foreach (var key in rule.Needs)
        {
            if (!_byKey.ContainsKey(key) && !_probes.Exists(probe => probe.Key == key))
            {
                throw new InvalidOperationException($"Verdict '{rule.Bar.Id}' needs '{key}', which the plan does not measure.");
            }
        }

        _rules.Add(rule);
    }

    /// <summary>The workload of that key.</summary>
    public Workload this[WorkloadKey key] => _byKey[key];
}
