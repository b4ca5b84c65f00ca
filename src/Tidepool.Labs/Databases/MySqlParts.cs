using System.Data.Common;
using MySqlConnector;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>The parts of lab <c>connections</c> that are about MySQL.</summary>
internal static class MySqlParts
{
    /// <summary>The provider, in tables.</summary>
    public const string Provider = "MySqlConnector";

    private const int Callers = 64;
    private const int Few = 4;
    private const int Some = 8;

    /// <summary>Adds them.</summary>
    /// <param name="plan">The lab's plan.</param>
    /// <param name="order">Of the first part.</param>
    public static void Add(LabPlan plan, int order)
    {
        plan.Rivals[Provider] = RivalVersion.Of(typeof(MySqlConnection));
        AddAsking(plan, order);
        AddFaults(plan, order + 1);
    }

    private static void AddAsking(LabPlan plan, int order)
    {
        var section = new Section
        {
            Title = "Open, ask, dispose, MariaDB",
            About = "SELECT 1 on a connection of its own for each, with the session reset between two users and without.",
            Baseline = PoolKind.Provider.Name(Provider),
            Varies = ["load", "between"],
            Operation = "connection",
            Order = order,
        };
        foreach (int callers in (int[])[1, Callers])
        {
            foreach (bool resets in (bool[])[true, false])
            {
                int size = callers == 1 ? Few : Some;
                string load = $"{callers} caller{(callers == 1 ? "" : "s")} on {size}, MariaDB";
                Cell cell = Cell.Of(("load", load), ("between", resets ? "reset" : "no reset"));
                foreach (PoolKind pool in PoolKinds.All.Where(pool => pool != PoolKind.None || (callers == 1 && resets)))
                {
                    plan.Add(new Workload
                    {
                        Key = new(cell, pool.Name(Provider)),
                        Section = section,
                        Ours = pool == PoolKind.Tidepool,
                        Create = () => MySqlLabServer.ConnectionString is null ? null : Ask(pool, size, resets, callers),
                        Missing = MySqlLabServer.Missing,
                        FixedOperations = pool == PoolKind.None ? 2 : callers == 1 ? 20 : 3 * callers,
                        EveryRounds = plan.Mode == LabMode.Quick && (callers > 1 || pool == PoolKind.None) ? 3 : 1,
                    });
                }
            }
        }
    }

    private static void AddFaults(LabPlan plan, int order)
    {
        var section = new Section
        {
            Title = "Writing during a fault, MariaDB",
            About = $"{Faults.Callers} callers on {Faults.Callers} sessions, each with one INSERT after another, 10 ms apart; after the "
                + $"fault they go on for {Faults.Watched.TotalSeconds:0} s. Requests, those that failed, callers whose last request "
                + "failed, and the longest time of a caller without an answer.",
            Layout = SectionLayout.Metrics,
            Varies = ["fault"],
            Order = order,
        };
        IReadOnlyList<MySqlFault> faults = MySqlFaults.Of(plan.Mode);
        var probes = new PoolProbes(Provider, static () => MySqlLabServer.ConnectionString is not null, MySqlLabServer.Missing);
        foreach (MySqlFault fault in faults)
        {
            probes.Add(plan, section, CellOf(fault), pool => MySqlFaults.Run(fault, pool), PoolKinds.Pools);
        }

        plan.Add(new MetricRatioRule(
            Bars.MySqlFaults,
            Faults.Failed,
            [.. faults.Where(static fault => fault != MySqlFault.SessionsEnded).Select(static fault =>
                (new WorkloadKey(CellOf(fault), PoolKinds.Ours), new WorkloadKey(CellOf(fault), PoolKind.Provider.Name(Provider))))]));
    }

    private static Cell CellOf(MySqlFault fault) => Cell.Of(("fault", $"MariaDB, {fault.Name()}"));

    private static Loop Ask(PoolKind pool, int size, bool resets, int callers)
    {
        DbDataSource source = PoolKinds.OpenMySql(pool, size, resets);
        int warm = pool == PoolKind.None ? 1 : size;
        return pool == PoolKind.Tidepool
            ? ConnectionLoops<PooledSourceSubject, PooledDbConnection>.Ask(source, warm, callers)
            : ConnectionLoops<MySqlSourceSubject, MySqlConnection>.Ask(source, warm, callers);
    }
}
