using System.Data.Common;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>Lab <c>fleet</c>: what do pools of many processes do to one server?</summary>
internal sealed class FleetLab : ILab
{
    /// <summary>The part with the processes, which docs/fleet.md quotes.</summary>
    public const string Together = "Eight processes, twenty connections";

    /// <summary>The part with the sizes of the pools before a pooler, which docs/fleet.md quotes.</summary>
    public const string Sizes = "How large a pool before the pooler";

    private const string Postgres = "Npgsql";
    private const int Few = 4;

    /// <inheritdoc/>
    public string Name => "fleet";

    /// <inheritdoc/>
    public string Question => "What do the pools of many processes do to one server?";

    /// <inheritdoc/>
    public string Headline => PoolKinds.Ours;

    /// <summary>It starts processes by the dozen, and takes a minute.</summary>
    public bool InTour => false;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals[Postgres] = RivalVersion.Of(typeof(NpgsqlConnection));
        AddTogether(plan);
        AddSizes(plan);
        AddAsking(plan);
    }

    private static void AddTogether(LabPlan plan)
    {
        var section = new Section
        {
            Title = Together,
            About = $"{FleetRun.Processes} processes with {FleetRun.Callers} callers and a pool each, against a server with "
                + $"{FleetRun.ServerConnections} connections for all of them. Each caller opens, asks for a millisecond of computing, "
                + "disposes, and asks again. Answers per second, requests that failed, the most sessions that the server has at a time, "
                + "the times of requests from the wish for a connection on, and what failed. The sum is that of all pools' largest sizes.",
            Layout = SectionLayout.Metrics,
            Varies = ["way", "sum"],
            Order = 0,
        };
        IReadOnlyList<PoolKind> pools = plan.Mode == LabMode.Full ? PoolKinds.Pools : [PoolKind.Tidepool];
        (FleetWay Way, int MaxSize)[] ways = plan.Mode == LabMode.Full
            ? [(FleetWay.Direct, 2), (FleetWay.Direct, 20), (FleetWay.Session, 2), (FleetWay.Session, 4), (FleetWay.Session, 20),
                (FleetWay.Transaction, 2), (FleetWay.Transaction, 20)]
            : [(FleetWay.Session, 2), (FleetWay.Transaction, 20)];
        foreach ((FleetWay way, int size) in ways)
        {
            foreach (PoolKind pool in pools)
            {
                AddProbe(plan, section, new FleetRun(way, pool, size), CellOf(new FleetRun(way, pool, size)));
            }
        }

        WorkloadKey[] Ours(FleetWay way) =>
        [
            .. ways.Where(one => one.Way == way
                    && (way == FleetWay.Transaction || FleetRun.Processes * one.MaxSize <= FleetRun.ServerConnections))
                .Select(one => new WorkloadKey(CellOf(new FleetRun(way, PoolKind.Tidepool, one.MaxSize)), PoolKinds.Ours)),
        ];
        plan.Add(new MetricRule(Bars.FleetTransaction, FleetRun.Failed, Ours(FleetWay.Transaction)));
        plan.Add(new MetricRule(Bars.FleetSession, FleetRun.Failed, Ours(FleetWay.Session)));
    }

    private static void AddSizes(LabPlan plan)
    {
        var section = new Section
        {
            Title = Sizes,
            About = "The same processes behind the pooler in transaction mode, with larger and larger pools in front of it.",
            Layout = SectionLayout.Metrics,
            Varies = ["max size"],
            Order = 1,
        };
        int[] sizes = plan.Mode == LabMode.Full ? [1, 2, 3, 5, 10, 20] : [];
        foreach (int size in sizes)
        {
            AddProbe(plan, section, new FleetRun(FleetWay.Transaction, PoolKind.Tidepool, size), Cell.Of(("max size", size)));
        }
    }

    /// <summary>One caller through the pooler: both pools as each is set for its mode.</summary>
    private static void AddAsking(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Open, ask, dispose behind PgBouncer",
            About = "SELECT 1 on a connection of its own for each, one caller on four. In transaction mode neither pool resets. In session "
                + "mode Npgsql's pool sends the reset with the next statement, ours after the return unless the cell says otherwise.",
            Baseline = PoolKind.Provider.Name(Postgres),
            Varies = ["mode"],
            Operation = "connection",
            Order = 2,
        };
        (WorkloadKey, WorkloadKey) session = AddPair(plan, section, "session", FleetWay.Session, resetsLater: false);
        (WorkloadKey, WorkloadKey) alike = AddPair(plan, section, "session, reset with the next", FleetWay.Session, resetsLater: true);
        (WorkloadKey, WorkloadKey) transaction = AddPair(plan, section, "transaction", FleetWay.Transaction, resetsLater: false);
        plan.Add(new RatioRule(Bars.FleetLatency, session, transaction));
        plan.Add(new RatioRule(Bars.FleetLatencyAlike, alike));
    }

    private static (WorkloadKey Ours, WorkloadKey Provider) AddPair(
        LabPlan plan, Section section, string mode, FleetWay way, bool resetsLater)
    {
        Cell cell = Cell.Of(("mode", mode));
        foreach (PoolKind pool in PoolKinds.Pools)
        {
            plan.Add(new Workload
            {
                Key = new(cell, pool.Name(Postgres)),
                Section = section,
                Ours = pool == PoolKind.Tidepool,
                Create = () => Missing is null ? Ask(way, pool, resetsLater) : null,
                Missing = Missing ?? "",
                FixedOperations = 20,
            });
        }

        return (new(cell, PoolKinds.Ours), new(cell, PoolKind.Provider.Name(Postgres)));
    }

    private static void AddProbe(LabPlan plan, Section section, FleetRun fleet, Cell cell)
    {
        double seconds = plan.Mode == LabMode.Full ? 10 : 2;
        plan.Add(new Probe
        {
            Key = new(cell, fleet.Pool.Name(Postgres)),
            Section = section,
            Ours = fleet.Pool == PoolKind.Tidepool,
            Run = _ => Missing is null ? fleet.Run(seconds) : null,
            Missing = Missing ?? "",
        });
    }

    private static Cell CellOf(FleetRun fleet) => Cell.Of(("way", fleet.Name), ("sum", fleet.Sum));

    /// <summary>Why its rows are not run, or null.</summary>
    private static string? Missing =>
        PgBouncer.Missing is { } missing ? $"{missing} Then run with --postgres"
        : LabServer.ConnectionString is null ? LabServer.Missing
        : null;

    private static HoldingLoop Ask(FleetWay way, PoolKind pool, bool resetsLater)
    {
        PgBouncer pooler = PgBouncer.StartAsync(
            LabServer.ConnectionString!, way == FleetWay.Session ? "session" : "transaction", Few).GetAwaiter().GetResult();
        DbDataSource source = FleetMember.Open(
            new FleetTask(pooler.ConnectionString, pool, Few, way == FleetWay.Transaction, Callers: 1, Seconds: 0, resetsLater));
        Loop loop = pool == PoolKind.Tidepool
            ? ConnectionLoops<PooledSourceSubject, PooledDbConnection>.Ask(source, Few)
            : ConnectionLoops<NpgsqlSourceSubject, NpgsqlConnection>.Ask(source, Few);
        return new HoldingLoop(loop, pooler);
    }
}
