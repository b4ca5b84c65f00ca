using System.Diagnostics;
using Microsoft.EntityFrameworkCore;
using Npgsql;
using Npgsql.EntityFrameworkCore.PostgreSQL.Infrastructure;

namespace Tidepool.Labs;

/// <summary>Lab <c>ef</c>: does Entity Framework Core get pooled connections too?</summary>
internal sealed class EfLab : ILab
{
    private const string Used = "sessions used_count";
    private const string Beyond = "ours beyond the provider's_count";
    private const string Unpooled = "without a pool_count";
    private const int Units = 5;
    private const int Crowd = 16;
    private const int Few = 4;

    private static readonly TimeSpan Elsewhere = TimeSpan.FromMilliseconds(5);
    private static readonly Cell Timed = Cell.Of(("time", "one insert"));
    private static readonly (string Unit, int Saves)[] UnitSizes = [("one insert", 1), ("two inserts", 2)];

    private static readonly ContextKind[] Kinds =
        [ContextKind.Provider, ContextKind.None, ContextKind.PooledOverProvider, ContextKind.Lease, ContextKind.PooledOverLease];

    private static readonly ContextKind[] Pressing =
        [ContextKind.Provider, ContextKind.PooledOverProvider, ContextKind.Lease, ContextKind.PooledOverLease, ContextKind.LeasePerSave];

    /// <inheritdoc/>
    public string Name => "ef";

    /// <inheritdoc/>
    public string Question => "Does Entity Framework Core get pooled connections too?";

    /// <inheritdoc/>
    public string Headline => UnitContexts.NameOf(ContextKind.PooledOverLease);

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["Microsoft.EntityFrameworkCore"] = RivalVersion.Of(typeof(DbContext));
        plan.Rivals["Npgsql.EntityFrameworkCore.PostgreSQL"] = RivalVersion.Of(typeof(NpgsqlDbContextOptionsBuilder));
        plan.Rivals["Npgsql"] = RivalVersion.Of(typeof(NpgsqlConnection));
        AddSessions(plan);
        AddTimes(plan);
        AddPressure(plan);
    }

    private static void AddSessions(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Five units of work",
            About = "A context for each, with one insert or with two that are saved one by one, on each kind of connection; the server itself writes into each row which of its processes inserted it. Sessions that the five used, and those that are left afterwards.",
            Layout = SectionLayout.Metrics,
            Varies = ["unit"],
        };
        WorkloadKey all = AddProbe(plan, section, "sessions", CountSessions);
        foreach (var (unit, _) in UnitSizes)
        {
            foreach (ContextKind kind in Kinds)
            {
                AddStep(plan, section, all, Cell.Of(("unit", unit)), kind);
            }
        }

        plan.Add(new MetricRule(Bars.EfBackends, Beyond, all));
        plan.Add(new EqualRule(Bars.EfUnpooled, Unpooled, all));
    }

    private static void AddTimes(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Time of a unit",
            About = "One after another: a context, an insert, a save.",
            Baseline = UnitContexts.NameOf(ContextKind.Provider),
            Varies = ["time"],
            Operation = "unit",
            Order = 1,
        };
        foreach (ContextKind kind in Kinds)
        {
            plan.Add(new Workload
            {
                Key = new(Timed, UnitContexts.NameOf(kind)),
                Section = section,
                Ours = UnitContexts.IsOurs(kind),
                Create = () => LabServer.ConnectionString is null ? null : Time(UnitContexts.Open(kind, Few)),
                Missing = LabServer.Missing,
                FixedOperations = kind == ContextKind.None ? 2 : 10,
            });
        }
    }

    private static void AddPressure(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Pressure on the pool",
            About = $"{Crowd} units at once on a pool of {Few}: an insert, {Elsewhere.TotalMilliseconds:0} ms of work elsewhere, an insert. Entity Framework holds a connection for a command; who leases one for the life of the context holds it meanwhile too. Median of ten times.",
            Layout = SectionLayout.Metrics,
            Varies = ["load"],
            Order = 2,
        };
        WorkloadKey all = AddProbe(plan, section, "pressure", MeasurePressure);
        foreach (ContextKind kind in Pressing)
        {
            AddStep(plan, section, all, Cell.Of(("load", $"{Crowd} units on {Few}")), kind);
        }
    }

    /// <summary>All in one process: to start Entity Framework takes longer than what is looked at.</summary>
    private static WorkloadKey AddProbe(LabPlan plan, Section section, string what, Func<Dictionary<string, double>> run)
    {
        var key = new WorkloadKey(Cell.Of(("all", what)), PoolKinds.Ours);
        plan.Add(new Probe
        {
            Key = key,
            Section = section,
            Ours = true,
            OnlySteps = true,
            Run = _ => LabServer.ConnectionString is null ? null : run(),
            Missing = LabServer.Missing,
        });
        return key;
    }

    private static void AddStep(LabPlan plan, Section section, WorkloadKey probe, Cell cell, ContextKind kind) => plan.Add(new StepRow
    {
        Key = new(cell, UnitContexts.NameOf(kind)),
        Section = section,
        Ours = UnitContexts.IsOurs(kind),
        Step = StepOf(cell, kind),
        Of = [("", probe)],
    });

    private static string StepOf(Cell cell, ContextKind kind) => $"{cell.Describe()}, {kind}";

    private static Dictionary<string, double> CountSessions()
    {
        using NpgsqlConnection observer = DbConnections.OpenObserver();
        var seen = new Dictionary<string, double>();
        foreach (var (unit, saves) in UnitSizes)
        {
            foreach (ContextKind kind in Kinds)
            {
                string step = StepOf(Cell.Of(("unit", unit)), kind);
                string mark = $"{Environment.ProcessId}: {step}";
                using UnitContexts units = UnitContexts.Open(kind, 100, mark);
                for (int i = 0; i < Units; i++)
                {
                    units.RunAsync(mark, saves).GetAwaiter().GetResult();
                }

                using var used = new NpgsqlCommand("SELECT count(DISTINCT backend) FROM notes WHERE text = $1", observer);
                used.Parameters.Add(new() { Value = mark });
                seen[StepRow.NameOf(step, Used)] = (long)used.ExecuteScalar()!;
                seen[StepRow.NameOf(step, "left_count")] = DbConnections.CountSessions(observer, mark, kind == ContextKind.None ? 0 : 1);
            }
        }

        double UsedBy(ContextKind kind) => seen[StepRow.NameOf(StepOf(Cell.Of(("unit", UnitSizes[0].Unit)), kind), Used)];
        seen[Beyond] = Math.Max(0, Math.Max(UsedBy(ContextKind.Lease), UsedBy(ContextKind.PooledOverLease)) - UsedBy(ContextKind.Provider));
        seen[Unpooled] = UsedBy(ContextKind.None);
        return seen;
    }

    private static Dictionary<string, double> MeasurePressure()
    {
        var seen = new Dictionary<string, double>();
        foreach (ContextKind kind in Pressing)
        {
            using UnitContexts units = UnitContexts.Open(kind, Few);
            double[] times = new double[10];
            for (int i = -2; i < times.Length; i++)
            {
                long start = Stopwatch.GetTimestamp();
                Task.WhenAll(Enumerable.Range(0, Crowd).Select(_ => Task.Run(() => units.RunAsync("pressure", 2, Elsewhere)))).GetAwaiter().GetResult();
                times[Math.Max(i, 0)] = Stopwatch.GetElapsedTime(start).TotalNanoseconds; // the first two are to warm up, and are written over
            }

            Array.Sort(times);
            string step = StepOf(Cell.Of(("load", $"{Crowd} units on {Few}")), kind);
            seen[StepRow.NameOf(step, "all units_ns")] = times[times.Length / 2];
            seen[StepRow.NameOf(step, "fastest_ns")] = times[0];
        }

        return seen;
    }

    private static AsyncLoop Time(UnitContexts units) => new(
        async operations =>
        {
            for (int i = 0; i < operations; i++)
            {
                await units.RunAsync("timed", 1).ConfigureAwait(false);
            }
        },
        batchFactor: 1,
        units);
}
