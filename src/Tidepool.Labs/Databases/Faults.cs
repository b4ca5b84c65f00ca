using System.Data.Common;
using System.Diagnostics;
using System.Net.Sockets;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>What happens to a server while callers write.</summary>
internal enum ServerFault
{
    /// <summary>An administrator ends all sessions.</summary>
    SessionsEnded,

    /// <summary>One session's process is killed: the server ends all others and recovers.</summary>
    ProcessKilled,

    /// <summary>The server stops at once and starts again a second later.</summary>
    Restart,

    /// <summary>The server becomes read only, and its address leads to another from then on; it still answers its open sessions.</summary>
    Switchover,
}

/// <summary>What one caller saw of a fault.</summary>
/// <param name="Requests">Its requests.</param>
/// <param name="Failed">Those that failed.</param>
/// <param name="LongestGap">The longest time between two answers.</param>
/// <param name="IsServed">Whether its last request was answered.</param>
internal readonly record struct FaultCaller(int Requests, int Failed, TimeSpan LongestGap, bool IsServed);

/// <summary>How many requests of callers that write fail in a fault, and how long the callers are without an answer.</summary>
internal static class Faults
{
    /// <summary>Metric: failed requests.</summary>
    public const string Failed = "failed_count";

    /// <summary>Metric: callers whose last request failed.</summary>
    public const string NotServed = "not served_count";

    /// <summary>Metric: the longest time of a caller between two answers; missing where callers were not served again.</summary>
    public const string LongestGap = "longest gap_ns";

    /// <summary>Callers, each with one request after another; the pool has a session for each.</summary>
    public const int Callers = 8;

    /// <summary>How long callers go on after the fault in a run.</summary>
    public static readonly TimeSpan Watched = TimeSpan.FromSeconds(3);

    /// <summary>The pause of a caller between two requests.</summary>
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan Before = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan Down = TimeSpan.FromSeconds(1);

    /// <summary>The faults of a run.</summary>
    public static IReadOnlyList<ServerFault> Of(LabMode mode) =>
        mode == LabMode.Full ? Enum.GetValues<ServerFault>() : [ServerFault.Switchover];

    /// <summary>What a fault is called in tables.</summary>
    public static string Name(this ServerFault fault) => fault switch
    {
        ServerFault.SessionsEnded => "all sessions ended",
        ServerFault.ProcessKilled => "a session's process killed",
        ServerFault.Restart => "restart, 1 s down",
        _ => "planned switchover",
    };

    /// <summary>Lets it happen to servers of its own, and counts.</summary>
    public static Dictionary<string, double> Run(ServerFault fault, PoolKind pool) =>
        Summarize(MeasureAsync(fault, pool, Watched).GetAwaiter().GetResult());

    /// <summary>The metrics of all callers together.</summary>
    internal static Dictionary<string, double> Summarize(IReadOnlyList<FaultCaller> callers)
    {
        int notServed = callers.Count(static caller => !caller.IsServed);
        var metrics = new Dictionary<string, double>
        {
            ["requests_count"] = callers.Sum(static caller => caller.Requests),
            [Failed] = callers.Sum(static caller => caller.Failed),
            [NotServed] = notServed,
        };
        if (notServed == 0)
        {
            metrics[LongestGap] = callers.Max(static caller => caller.LongestGap).TotalNanoseconds;
        }

        return metrics;
    }

    /// <summary>Lets it happen to servers of its own.</summary>
    /// <param name="fault">What happens.</param>
    /// <param name="pool">The owner of the sessions.</param>
    /// <param name="watched">How long callers go on afterwards.</param>
    internal static async Task<IReadOnlyList<FaultCaller>> MeasureAsync(ServerFault fault, PoolKind pool, TimeSpan watched)
    {
        PostgresCluster server = await StartAsync().ConfigureAwait(false);
        await using (server.ConfigureAwait(false))
        {
            if (fault != ServerFault.Switchover)
            {
                return await MeasureAsync(pool, server, server.Port, () => HappenAsync(fault, server), watched).ConfigureAwait(false);
            }

            PostgresCluster next = await StartAsync().ConfigureAwait(false);
            await using (next.ConfigureAwait(false))
            {
                var address = new FaultProxy(server.Port);
                await using (address.ConfigureAwait(false))
                {
                    return await MeasureAsync(pool, server, address.Port, () => MoveAsync(server, next, address), watched)
                        .ConfigureAwait(false);
                }
            }
        }
    }

    /// <summary>A server with a table, and a role that is the same on each.</summary>
    private static async Task<PostgresCluster> StartAsync()
    {
        PostgresCluster server = await PostgresCluster.StartAsync().ConfigureAwait(false);
        await server.ExecuteAsync(
            "CREATE TABLE written (number int); CREATE ROLE writer LOGIN PASSWORD 'writer'; GRANT INSERT ON written TO writer")
            .ConfigureAwait(false);
        return server;
    }

    private static async Task<IReadOnlyList<FaultCaller>> MeasureAsync(
        PoolKind pool, PostgresCluster server, int port, Func<Task> happenAsync, TimeSpan watched)
    {
        string text = new NpgsqlConnectionStringBuilder(server.ConnectionStringTo(port))
        {
            Username = "writer",
            Password = "writer",
        }.ConnectionString;
        using DbDataSource source = PoolKinds.OpenPostgres(pool, Callers, application: "writer", connectionString: text);
        return await MeasureAsync(source, happenAsync, watched).ConfigureAwait(false);
    }

    /// <summary>Lets callers write while something happens.</summary>
    /// <param name="source">Their sessions.</param>
    /// <param name="happenAsync">What happens.</param>
    /// <param name="watched">How long they go on afterwards.</param>
    internal static async Task<IReadOnlyList<FaultCaller>> MeasureAsync(DbDataSource source, Func<Task> happenAsync, TimeSpan watched)
    {
        using var over = new CancellationTokenSource();
        Task<FaultCaller>[] callers = [.. Enumerable.Range(0, Callers).Select(_ => Task.Run(() => WriteAsync(source, over.Token)))];
        await Task.Delay(Before).ConfigureAwait(false);
        await happenAsync().ConfigureAwait(false);
        await Task.Delay(watched).ConfigureAwait(false);
        await over.CancelAsync().ConfigureAwait(false);
        return await Task.WhenAll(callers).ConfigureAwait(false);
    }

    private static async Task HappenAsync(ServerFault fault, PostgresCluster server)
    {
        switch (fault)
        {
            case ServerFault.SessionsEnded:
                await server.TerminateAllAsync().ConfigureAwait(false);
                break;
            case ServerFault.ProcessKilled:
                IReadOnlyList<PostgresSession> sessions = await server.ListSessionsAsync().ConfigureAwait(false);
                await server.CrashAsync(sessions[0].Process).ConfigureAwait(false);
                break;
            default:
                await server.StopAsync(isImmediate: true).ConfigureAwait(false);
                await Task.Delay(Down).ConfigureAwait(false);
                await server.StartAgainAsync().ConfigureAwait(false);
                break;
        }
    }

    private static async Task MoveAsync(PostgresCluster server, PostgresCluster next, FaultProxy address)
    {
        await server.AlterSystemAsync("default_transaction_read_only", "on").ConfigureAwait(false);
        address.MoveTo(next.Port);
    }

    /// <summary>One INSERT after another until it is over, each on a connection of its own.</summary>
    private static async Task<FaultCaller> WriteAsync(DbDataSource source, CancellationToken over)
    {
        int requests = 0;
        int failed = 0;
        bool isServed = true;
        TimeSpan longest = TimeSpan.Zero;
        long answered = Stopwatch.GetTimestamp();
        while (!over.IsCancellationRequested)
        {
            requests++;
            try
            {
                await DbConnections.AskAsync(source, "INSERT INTO written VALUES (1)").ConfigureAwait(false);
                isServed = true;
                TimeSpan gap = Stopwatch.GetElapsedTime(answered);
                longest = gap > longest ? gap : longest;
                answered = Stopwatch.GetTimestamp();
            }
            catch (Exception failure) when (failure is DbException or IOException or SocketException)
            {
                failed++; // the last two are let pass as they are by MySqlConnector
                isServed = false;
            }

            await Task.Delay(Between, CancellationToken.None).ConfigureAwait(false);
        }

        return new(requests, failed, longest, isServed);
    }
}
