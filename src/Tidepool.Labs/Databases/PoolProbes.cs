namespace Tidepool.Labs;

/// <summary>Adds to a plan what is measured once for each owner of the sessions of a server.</summary>
/// <param name="provider">The provider, in tables.</param>
/// <param name="isThere">Whether the run has the server.</param>
/// <param name="missing">What the rows say where it has not.</param>
internal sealed class PoolProbes(string provider, Func<bool> isThere, string missing)
{
    /// <summary>Adds a probe for each owner.</summary>
    /// <param name="plan">The lab's plan.</param>
    /// <param name="section">The part that it belongs to.</param>
    /// <param name="cell">What is measured.</param>
    /// <param name="run">Measures one owner.</param>
    /// <param name="pools">The owners.</param>
    public void Add(
        LabPlan plan,
        Section section,
        Cell cell,
        Func<PoolKind, IReadOnlyDictionary<string, double>?> run,
        IReadOnlyList<PoolKind> pools)
    {
        foreach (PoolKind pool in pools)
        {
            plan.Add(new Probe
            {
                Key = new(cell, pool.Name(provider)),
                Section = section,
                Ours = pool == PoolKind.Tidepool,
                Run = _ => isThere() ? run(pool) : null,
                Missing = missing,
            });
        }
    }
}
