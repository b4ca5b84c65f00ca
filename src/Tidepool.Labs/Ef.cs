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
    [
        ContextKind.Provider, ContextKind.None, ContextKind.PooledOverProvider,
        ContextKind.UseTidepool, ContextKind.Lease, ContextKind.PooledOverLease,
    ];

    private static readonly ContextKind[] Pressing =
    [
        ContextKind.Provider, ContextKind.PooledOverProvider,
        ContextKind.UseTidepool, ContextKind.Lease, ContextKind.PooledOverLease, ContextKind.LeasePerSave,
    ];

    /// <summary>The server does not wait for its disk, which would hide everything else.</summary>
    private const string WithoutDisk = ";Options=-c synchronous_commit=off";

    private static readonly ContextKind[] Compared = [ContextKind.Provider, ContextKind.UseTidepool, ContextKind.UseTidepoolLater];

    /// <inheritdoc/>
    public string Name => "ef";

    /// <inheritdoc/>
    public string Question => "Does Entity Framework Core get pooled connections too?";

    /// <inheritdoc/>
    public string Headline => UnitContexts.NameOf(ContextKind.PooledOverLease);

    /// <inheritdoc/>
    public IReadOnlyList<string> Without => [UnitContexts.NameOf(ContextKind.None)];

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["Microsoft.EntityFrameworkCore"] = RivalVersion.Of(typeof(DbContext));
        plan.Rivals["Npgsql.EntityFrameworkCore.PostgreSQL"] = RivalVersion.Of(typeof(NpgsqlDbContextOptionsBuilder));
        plan.Rivals["Npgsql"] = RivalVersion.Of(typeof(NpgsqlConnection));
        WorkloadKey looked = AddSessions(plan);
        AddOperations(plan);
        AddTimes(plan);
        AddPressure(plan, looked);
    }

    /// <summary>Adds the probe too, which is one for all: to start Entity Framework takes longer than what is looked at.</summary>
    private static WorkloadKey AddSessions(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Five units of work",
            About = "A context for each, with one insert or with two that are saved one by one, on each kind of connection; the "
                + "server itself writes into each row which of its processes inserted it. Sessions "
                + "that the five used, and those that are left afterwards.",
            Layout = SectionLayout.Metrics,
            Varies = ["unit"],
        };
        var all = new WorkloadKey(Cell.Of(("all", "kinds")), PoolKinds.Ours);
        plan.Add(new Probe
        {
            Key = all,
            Section = section,
            Ours = true,
            OnlySteps = true,
            Run = _ => LabServer.ConnectionString is null ? null : Look(),
            Missing = LabServer.Missing,
        });
        foreach (var (unit, _) in UnitSizes)
        {
            foreach (ContextKind kind in Kinds)
            {
                AddStep(plan, section, all, Cell.Of(("unit", unit)), kind);
            }
        }

        plan.Add(new MetricRule(Bars.EfBackends, Beyond, all));
        plan.Add(new EqualRule(Bars.EfUnpooled, Unpooled, all));
        return all;
    }

    /// <summary>Adds the two operations that programs do most, with the bars for them.</summary>
    private static void AddOperations(LabPlan plan)
    {
        var section = new Section
        {
            Title = "A row by its key, and an insert",
            About = "One after another, each in a new context. Entity Framework rents and returns a session for each of them. Ours resets "
                + "it after the return, or with the next statement as Npgsql's pool does (ResetWithNextStatement). The server does not "
                + "wait for its disk (synchronous_commit=off).",
            Baseline = UnitContexts.NameOf(ContextKind.Provider),
            Varies = ["operation"],
            Operation = "operation",
            Order = 1,
        };
        Add("SELECT by key", Bars.EfSelect, Bars.EfSelectAlike, Find);
        Add("INSERT", Bars.EfInsert, Bars.EfInsertAlike, Time);

        void Add(string operation, Bar bar, Bar alike, Func<UnitContexts, AsyncLoop> loop)
        {
            Cell cell = Cell.Of(("operation", operation));
            WorkloadKey[] keys = [.. Compared.Select(kind => new WorkloadKey(cell, UnitContexts.NameOf(kind)))];
            foreach (var (kind, key) in Compared.Zip(keys))
            {
                plan.Add(new Workload
                {
                    Key = key,
                    Section = section,
                    Ours = UnitContexts.IsOurs(kind),
                    Create = () =>
                        LabServer.ConnectionString is null ? null : loop(UnitContexts.Open(kind, Few, operation, WithoutDisk)),
                    Missing = LabServer.Missing,
                    FixedOperations = 10,
                });
            }

            plan.Add(new RatioRule(bar, (keys[1], keys[0])));
            plan.Add(new RatioRule(alike, (keys[2], keys[0])));
        }
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
            Order = 2,
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

    private static void AddPressure(LabPlan plan, WorkloadKey all)
    {
        var section = new Section
        {
            Title = "Pressure on the pool",
            About = $"{Crowd} units at once on a pool of {Few}: an insert, {Elsewhere.TotalMilliseconds:0} ms of work elsewhere, an "
                + "insert. Entity Framework holds a connection for a command; who leases one for the life of the context holds it "
                + "meanwhile too. Median of five times.",
            Layout = SectionLayout.Metrics,
            Varies = ["load"],
            Order = 3,
        };
        foreach (ContextKind kind in Pressing)
        {
            AddStep(plan, section, all, Cell.Of(("load", $"{Crowd} units on {Few}")), kind);
        }
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

    private static Dictionary<string, double> Look()
    {
        using NpgsqlConnection observer = DbConnections.OpenObserver();
        var seen = new Dictionary<string, double>();
        foreach (ContextKind kind in Kinds.Union(Pressing))
        {
            string application = $"{Environment.ProcessId}: {kind}";
            using UnitContexts units = UnitContexts.Open(kind, Few, application);
            if (Kinds.Contains(kind))
            {
                CountSessions(seen, kind, units, observer, application);
            }

            if (Pressing.Contains(kind))
            {
                MeasurePressure(seen, kind, units);
            }
        }

        double UsedBy(ContextKind kind) => seen[StepRow.NameOf(StepOf(Cell.Of(("unit", UnitSizes[0].Unit)), kind), Used)];
        double ours = new[] { ContextKind.UseTidepool, ContextKind.Lease, ContextKind.PooledOverLease }.Max(UsedBy);
        seen[Beyond] = Math.Max(0, ours - UsedBy(ContextKind.Provider));
        seen[Unpooled] = UsedBy(ContextKind.None);
        return seen;
    }

    private static void CountSessions(
        Dictionary<string, double> seen, ContextKind kind, UnitContexts units, NpgsqlConnection observer, string application)
    {
        foreach (var (unit, saves) in UnitSizes)
        {
            string step = StepOf(Cell.Of(("unit", unit)), kind);
            string mark = $"{application}, {unit}";
            for (int i = 0; i < Units; i++)
            {
                units.RunAsync(mark, saves).GetAwaiter().GetResult();
            }

            using var used = new NpgsqlCommand("SELECT count(DISTINCT backend) FROM notes WHERE text = $1", observer);
            used.Parameters.Add(new() { Value = mark });
            seen[StepRow.NameOf(step, Used)] = (long)used.ExecuteScalar()!;
            seen[StepRow.NameOf(step, "left_count")] = DbConnections.CountSessions(observer, application, kind == ContextKind.None ? 0 : 1);
        }
    }

    private static void MeasurePressure(Dictionary<string, double> seen, ContextKind kind, UnitContexts units)
    {
        double[] times = new double[5];
        for (int i = -1; i < times.Length; i++)
        {
            long start = Stopwatch.GetTimestamp();
            Task.WhenAll(Enumerable.Range(0, Crowd).Select(_ => Task.Run(() => units.RunAsync("pressure", 2, Elsewhere))))
                .GetAwaiter().GetResult();
            times[Math.Max(i, 0)] = Stopwatch.GetElapsedTime(start).TotalNanoseconds; // the first is to warm up, and is written over
        }

        Array.Sort(times);
        string step = StepOf(Cell.Of(("load", $"{Crowd} units on {Few}")), kind);
        seen[StepRow.NameOf(step, "all units_ns")] = times[times.Length / 2];
        seen[StepRow.NameOf(step, "fastest_ns")] = times[0];
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

    private static AsyncLoop Find(UnitContexts units)
    {
        int id = units.AddAsync().GetAwaiter().GetResult();
        return new(
            async operations =>
            {
                for (int i = 0; i < operations; i++)
                {
                    await units.FindAsync(id).ConfigureAwait(false);
                }
            },
            batchFactor: 1,
            units);
    }
}
