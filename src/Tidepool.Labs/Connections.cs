using System.Data.Common;
using Microsoft.Data.Sqlite;
using Npgsql;
using Tidepool.Data;
using NpgsqlLoops = Tidepool.Labs.ConnectionLoops<Tidepool.Labs.NpgsqlSourceSubject, Npgsql.NpgsqlConnection>;
using PooledLoops = Tidepool.Labs.ConnectionLoops<Tidepool.Labs.PooledSourceSubject, Tidepool.Data.PooledDbConnection>;

namespace Tidepool.Labs;

/// <summary>Lab <c>connections</c>: what does connection pooling do?</summary>
internal sealed class ConnectionsLab : ILab
{
    /// <summary>The part that docs/connections.md quotes for the size of a pool.</summary>
    public const string Sizes = "How large a pool, PostgreSQL";

    /// <summary>The part that it quotes for the price of connections.</summary>
    public const string Asking = "Open, ask, dispose, PostgreSQL";

    /// <summary>The part that it quotes for failovers.</summary>
    public const string Failovers = "Failover, PostgreSQL";

    /// <summary>The part that it quotes for callers that write during a fault.</summary>
    public const string Writing = "Writing during a fault, PostgreSQL";

    /// <summary>The part with outages.</summary>
    public const string Recoveries = "Recovery, PostgreSQL";

    private const string Sqlite = "Microsoft.Data.Sqlite";
    private const string Postgres = "Npgsql";
    private const int Callers = 64;
    private const int Few = 4;
    private const int Some = 8;

    private static readonly string ResetAtOnce = $"{PoolKind.Provider.Name(Postgres)}, reset at once";
    private static readonly Cell OneResets = Cell.Of(("load", $"1 caller on {Few}"), ("between", "reset"));
    private static readonly Cell OnePlain = Cell.Of(("load", $"1 caller on {Few}"), ("between", "no reset"));
    private static readonly Cell ManyResets = Cell.Of(("load", $"{Callers} callers on {Some}"), ("between", "reset"));
    private static readonly Cell ManyPlain = Cell.Of(("load", $"{Callers} callers on {Some}"), ("between", "no reset"));
    private static readonly Cell OpenPlain = Cell.Of(("operation", "open and dispose"), ("between", "no reset"));

    private static PoolProbes Probes => new(Postgres, static () => LabServer.ConnectionString is not null, LabServer.Missing);

    /// <inheritdoc/>
    public string Name => "connections";

    /// <inheritdoc/>
    public string Question => "What does connection pooling do?";

    /// <inheritdoc/>
    public string Headline => PoolKinds.Ours;

    /// <inheritdoc/>
    public IReadOnlyList<string> Without => [PoolKind.None.Name(Sqlite), PoolKind.None.Name(Postgres)];

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals[Postgres] = RivalVersion.Of(typeof(NpgsqlConnection));
        plan.Rivals[Sqlite] = RivalVersion.Of(typeof(SqliteConnection));
        AddExperiment(plan, Sqlite, order: 0);
        AddExperiment(plan, Postgres, order: 2);
        AddFile(plan);
        AddOpening(plan);
        AddAsking(plan);
        AddFailovers(plan);
        AddFaults(plan);
        AddRecovery(plan);
        AddSizes(plan);
        MySqlParts.Add(plan, order: 11);
    }

    /// <summary>The classic experiment: who used how many sessions, and the list at each step.</summary>
    private static void AddExperiment(LabPlan plan, string provider, int order)
    {
        string database = provider == Sqlite ? "SQLite" : "PostgreSQL";
        Cell cell = Cell.Of(("database", database));
        var summary = new Section
        {
            Title = $"Five inserts, {database}",
            About =
                "Five times: open a connection, insert a row, dispose the connection. Sessions "
                    + "that they used in all, and what is left of them.",
            Layout = SectionLayout.Metrics,
            Varies = [],
            Order = order,
        };
        foreach (PoolKind kind in PoolKinds.All)
        {
            plan.Add(new Probe
            {
                Key = new(cell, kind.Name(provider)),
                Section = summary,
                Ours = kind == PoolKind.Tidepool,
                Run = _ =>
                    MissingFor(provider) is null
                        ? WithWitness(
                            provider,
                            new(Environment.ProcessId, RunFolder.OfThisProcess),
                            witness => SessionExperiment.Run(witness, kind))
                        : null,
                AfterExit = ended => WithWitness(provider, ended, SessionExperiment.LookAfterExit),
                Missing = MissingFor(provider) ?? "",
            });
        }

        var list = new Section
        {
            Title = $"The sessions at each step, {database}",
            About = provider == Sqlite
                ? "How often the file is open: SQLite has no server, so that is what a session is."
                : "The server's own list (pg_stat_activity): how many sessions, and the process that serves each.",
            Layout = SectionLayout.Metrics,
            Varies = [],
            Order = order + 1,
        };
        foreach (string step in SessionExperiment.Steps)
        {
            plan.Add(new StepRow
            {
                Key = new(Cell.Of(("list", database)), step),
                Section = list,
                Ours = false,
                Step = step,
                Of = [.. PoolKinds.All.Select(kind => (kind.Column(), new WorkloadKey(cell, kind.Name(provider))))],
            });
        }

        WorkloadKey[] pooled = [new(cell, PoolKind.Provider.Name(provider)), new(cell, PoolKinds.Ours)];
        WorkloadKey unpooled = new(cell, PoolKind.None.Name(provider));
        SessionBars bars = provider == Sqlite ? Bars.FileSessions : Bars.ServerSessions;
        plan.Add(new EqualRule(bars.Used, SessionExperiment.Used, pooled));
        plan.Add(new EqualRule(bars.Kept, SessionExperiment.Kept, pooled));
        plan.Add(new EqualRule(bars.Cleared, SessionExperiment.Cleared, pooled));
        plan.Add(new EqualRule(bars.Ended, SessionExperiment.Ended, pooled));
        plan.Add(new EqualRule(bars.Unpooled, SessionExperiment.Used, unpooled));
        plan.Add(new EqualRule(bars.NotKept, SessionExperiment.Kept, unpooled));
    }

    /// <summary>A file needs no server: what pooling it costs and saves.</summary>
    private static void AddFile(LabPlan plan)
    {
        Section section = Part(
            "One caller, SQLite",
            "Open, SELECT 1, dispose. There is no way to a server to save, only the opening of a file. The provider's pool resets "
                + "nothing but a transaction; ours removes what the last user left in the session, unless it is told not to.",
            PoolKind.Provider.Name(Sqlite), 4, "load", "between");
        foreach (bool resets in (bool[])[true, false])
        {
            Cell cell = Cell.Of(("load", "1 caller"), ("between", resets ? "reset" : "no reset"));
            foreach (PoolKind kind in PoolKinds.All.Where(kind => resets || kind != PoolKind.None))
            {
                Add(
                    plan,
                    section,
                    cell,
                    kind.Name(Sqlite),
                    kind,
                    40,
                    null,
                    () => ConnectionLoops<AnySourceSubject, DbConnection>.Ask(OpenFile(kind, resets), warm: 1));
            }
        }
    }

    private static void AddOpening(LabPlan plan)
    {
        Section section = Part(
            "Opening alone, PostgreSQL",
            "Open an idle connection and dispose it: nothing is asked, nothing is reset.",
            PoolKind.Provider.Name(Postgres),
            5,
            "operation");
        Add(plan, section, OpenPlain, PoolKind.Provider.Name(Postgres), PoolKind.Provider, 2000, LabServer.Missing,
            static () => NpgsqlLoops.OpenAndClose(PoolKinds.OpenPostgres(PoolKind.Provider, Few, resets: false), Few));
        Add(plan, section, OpenPlain, PoolKinds.Ours, PoolKind.Tidepool, 2000, LabServer.Missing,
            static () => PooledLoops.OpenAndClose(PoolKinds.OpenPostgres(PoolKind.Tidepool, Few, resets: false), Few));
        plan.Add(Against(Bars.ConnectionOpen, OpenPlain));
    }

    private static void AddAsking(LabPlan plan)
    {
        Section section = Part(
            Asking,
            "SELECT 1 on a connection of its own for each; with the session reset between two users, as both do by default, and "
                + "without. Ours resets it after the return, or with the next statement as Npgsql's pool does (ResetWithNextStatement). "
                + "Reset at once: the caller executes DISCARD ALL before it disposes, so that what lies in Npgsql's pool is clean as in "
                + "ours. One caller: the latency. Many on few: the throughput.",
            PoolKind.Provider.Name(Postgres), 6, "load", "between");
        int rarely = plan.Mode == LabMode.Quick ? 3 : 1; // for what takes tens of milliseconds
        (Cell, int, bool)[] loads = [(OneResets, 1, true), (OnePlain, 1, false), (ManyResets, Callers, true), (ManyPlain, Callers, false)];
        foreach ((Cell cell, int callers, bool resets) in loads)
        {
            int size = callers == 1 ? Few : Some;
            int operations = callers == 1 ? 20 : (plan.Mode == LabMode.Full ? 5 : 3) * callers;
            int every = callers > 1 ? rarely : 1;
            Add(plan, section, cell, PoolKind.Provider.Name(Postgres), PoolKind.Provider, operations, LabServer.Missing,
                () => NpgsqlLoops.Ask(PoolKinds.OpenPostgres(PoolKind.Provider, size, resets), size, callers),
                every);
            if (callers == 1 && resets)
            {
                Add(plan, section, cell, PoolKind.None.Name(Postgres), PoolKind.None, 2, LabServer.Missing,
                    () => NpgsqlLoops.Ask(PoolKinds.OpenPostgres(PoolKind.None, size, resets), 1, callers),
                    rarely);
            }

            if (resets)
            {
                Add(plan, section, cell, ResetAtOnce, PoolKind.Provider, operations, LabServer.Missing,
                    () => NpgsqlLoops.Ask(PoolKinds.OpenPostgres(PoolKind.Provider, size, resets: false), size, callers, "DISCARD ALL"),
                    every);
            }

            Add(plan, section, cell, PoolKinds.Ours, PoolKind.Tidepool, operations, LabServer.Missing,
                () => PooledLoops.Ask(PoolKinds.OpenPostgres(PoolKind.Tidepool, size, resets), size, callers),
                every);
            if (resets)
            {
                Add(plan, section, cell, PoolKinds.OursLater, PoolKind.Tidepool, operations, LabServer.Missing,
                    () => PooledLoops.Ask(PoolKinds.OpenPostgres(PoolKind.Tidepool, size, resetsLater: true), size, callers),
                    every);
            }
        }

        plan.Add(new RatioRule(Bars.ConnectionLatency, Pair(OneResets), Pair(OnePlain)));
        plan.Add(new RatioRule(Bars.ConnectionLatencyAlike, Alike(OneResets)));
        plan.Add(Against(Bars.ConnectionManyResets, ManyResets));
        plan.Add(new RatioRule(Bars.ConnectionManyResetsAlike, Alike(ManyResets)));
        plan.Add(Against(Bars.ConnectionManyPlain, ManyPlain));
        plan.Add(
            new RatioRule(
                Bars.ConnectionUnpooled,
                (new WorkloadKey(OneResets, PoolKinds.Ours), new WorkloadKey(OneResets, PoolKind.None.Name(Postgres)))));
    }

    private static void AddFailovers(LabPlan plan)
    {
        var section = new Section
        {
            Title = Failovers,
            About = "8 sessions, 3 of them open in programs while it happens. Then those 3 ask, and others come one by one; while "
                + "the server restarts one arrives every 10 ms. Requests, those that failed, those beyond the 3 (one that has just "
                + "arrived may hold a session too), the time until the server is back, the longest wait, and what was thrown "
                + "(SQLSTATE, or the error of the socket).",
            Layout = SectionLayout.Metrics,
            Varies = ["server"],
            Order = 7,
        };
        FailoverKind[] kinds = plan.Mode == LabMode.Full ? Enum.GetValues<FailoverKind>() : [FailoverKind.SessionsEnded];
        foreach (FailoverKind kind in kinds)
        {
            Probes.Add(
                plan,
                section,
                Cell.Of(("server", kind.Name())),
                pool => Failover.Run(kind, pool),
                plan.Mode == LabMode.Full ? PoolKinds.Pools : [PoolKind.Tidepool]);
        }

        plan.Add(
            new MetricRule(
                Bars.ConnectionKilled,
                Failover.Beyond,
                new WorkloadKey(Cell.Of(("server", FailoverKind.SessionsEnded.Name())), PoolKinds.Ours)));
    }

    private static void AddFaults(LabPlan plan)
    {
        var section = new Section
        {
            Title = Writing,
            About = $"{Faults.Callers} callers on {Faults.Callers} sessions, each with one INSERT after another, 10 ms apart; after the "
                + $"fault they go on for {Faults.Watched.TotalSeconds:0} s. Requests, those that failed, callers whose last request "
                + "failed, and the longest time of a caller without an answer. Planned switchover: the server becomes read only and "
                + "its address leads to another; what is connected to the old one stays connected.",
            Layout = SectionLayout.Metrics,
            Varies = ["fault"],
            Order = 8,
        };
        IReadOnlyList<ServerFault> faults = Faults.Of(plan.Mode);
        foreach (ServerFault fault in faults)
        {
            Probes.Add(plan, section, CellOf(fault), pool => Faults.Run(fault, pool), PoolKinds.Pools);
        }

        Cell[] away =
            [.. faults.Where(static fault => fault is ServerFault.Restart or ServerFault.Switchover).Select(CellOf)];
        plan.Add(new MetricRatioRule(Bars.ConnectionFaults, Faults.Failed, [.. away.Select(Pair)]));
        plan.Add(
            new MetricRule(
                Bars.ConnectionFaultsServed,
                Faults.NotServed,
                [.. faults.Select(static fault => new WorkloadKey(CellOf(fault), PoolKinds.Ours))]));
    }

    private static Cell CellOf(ServerFault fault) => Cell.Of(("fault", fault.Name()));

    private static void AddRecovery(LabPlan plan)
    {
        var section = new Section
        {
            Title = Recoveries,
            About = $"{Recovery.Callers} callers on {Recovery.Size} sessions, each with one request after another, "
                + "while the server is away for a time; each pool waits as long as it does by default. "
                + "Half and all of the callers are served so long after the server is back (share: of the outage, for half of them); "
                + "requests that failed, and those of them that waited in vain, for each outage; "
                + "connections tried while the server was away, counted by a proxy in front of it, which refuses them; "
                + "where a cell says so the server behind it is killed.",
            Layout = SectionLayout.Metrics,
            Varies = ["outage"],
            Order = 9,
        };
        IReadOnlyList<Outage> outages = Outage.Of(plan.Mode);
        foreach (Outage outage in outages)
        {
            Probes.Add(plan, section, CellOf(outage), pool => Recovery.Run(outage, pool), PoolKinds.Pools);
        }

        Cell[] cells = [.. outages.Select(CellOf)];
        WorkloadKey[] ours = [.. cells.Select(static cell => new WorkloadKey(cell, PoolKinds.Ours))];
        plan.Add(new MetricRule(Bars.ConnectionRecovery, Recovery.Share, ours));
        plan.Add(new MetricRatioRule(Bars.ConnectionRecoveryFailed, Recovery.Failed, [.. cells.Select(Pair)]));
        plan.Add(new MetricRule(Bars.ConnectionRecoveryAttempts, Recovery.AttemptsPerSecond, ours));
    }

    private static Cell CellOf(Outage outage) => Cell.Of(("outage", outage.Name));

    private static void AddSizes(LabPlan plan)
    {
        Cell cell = Cell.Of(("curve", "all sizes"));
        var key = new WorkloadKey(cell, PoolKinds.Ours);
        var section = new Section
        {
            Title = Sizes,
            About = $"{PoolSizes.Callers} callers arrive at once; each opens, asks, disposes. Answers per second, and the time "
                + "within which half and 99 % of the callers have theirs.",
            Layout = SectionLayout.Metrics,
            Varies = ["question", "sessions"],
            Order = 10,
        };
        plan.Add(new Probe
        {
            Key = key,
            Section = section,
            Ours = true,
            OnlySteps = true,
            Run = _ => LabServer.ConnectionString is null ? null : PoolSizes.Measure(plan.Mode),
            Missing = LabServer.Missing,
        });
        foreach (var (name, _) in PoolSizes.Questions)
        {
            foreach (int size in PoolSizes.SizesOf(plan.Mode))
            {
                plan.Add(new StepRow
                {
                    Key = new(Cell.Of(("question", name), ("sessions", size)), PoolKinds.Ours),
                    Section = section,
                    Ours = true,
                    Step = PoolSizes.StepOf(name, size),
                    Of = [("", key)],
                });
            }
        }
    }

    private static DbDataSource OpenFile(PoolKind kind, bool resets) =>
        PoolKinds.OpenSqlite(kind, Path.Combine(RunFolder.OfThisProcess, $"asked-{Environment.ProcessId}-{kind}-{resets}.db"), resets);

    private static string? MissingFor(string provider) =>
        provider == Sqlite ? SqliteWitness.Missing : LabServer.ConnectionString is null ? LabServer.Missing : null;

    private static Dictionary<string, double> WithWitness(
        string provider, ProbeProcess process, Func<SessionWitness, Dictionary<string, double>> act)
    {
        using SessionWitness witness = provider == Sqlite ? new SqliteWitness(process) : new PostgresWitness(process.Process);
        return act(witness);
    }

    private static Section Part(string title, string about, string baseline, int order, params string[] varies) => new()
    {
        Title = title,
        About = about,
        Baseline = baseline,
        Varies = varies,
        Operation = "connection",
        Order = order,
    };

    private static (WorkloadKey Ours, WorkloadKey Other) Pair(Cell cell) =>
        (new(cell, PoolKinds.Ours), new(cell, PoolKind.Provider.Name(Postgres)));

    /// <summary>Ours beside the provider's pool where both reset a session with its next statement, or both at its return.</summary>
    private static (WorkloadKey Ours, WorkloadKey Other)[] Alike(Cell cell) =>
    [
        (new WorkloadKey(cell, PoolKinds.OursLater), new WorkloadKey(cell, PoolKind.Provider.Name(Postgres))),
        (new WorkloadKey(cell, PoolKinds.Ours), new WorkloadKey(cell, ResetAtOnce)),
    ];

    private static RatioRule Against(Bar bar, Cell cell) => new(bar, Pair(cell));

    private static void Add(
        LabPlan plan,
        Section section,
        Cell cell,
        string subject,
        PoolKind kind,
        int operations,
        string? missing,
        Func<Loop> create,
        int every = 1) => plan.Add(new Workload
    {
        Key = new(cell, subject),
        Section = section,
        Ours = kind == PoolKind.Tidepool,
        Create = () => missing is null || LabServer.ConnectionString is not null ? create() : null,
        Missing = missing ?? "",
        FixedOperations = operations,
        EveryRounds = every,
    });
}
