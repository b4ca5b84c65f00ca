using System.Collections.Concurrent;
using System.Data.Common;
using System.Diagnostics;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>What happens to the server.</summary>
internal enum FailoverKind
{
    /// <summary>An administrator ends all sessions.</summary>
    SessionsEnded,

    /// <summary>The server restarts, and tells its clients.</summary>
    RestartFast,

    /// <summary>The server restarts after it ended at once.</summary>
    RestartImmediate,
}

/// <summary>
/// What callers see of a failover: three connections are open while it happens, five are idle; then the three ask, then others
/// arrive one by one.
/// </summary>
internal static class Failover
{
    /// <summary>Metric: failed requests beyond the connections that were open.</summary>
    public const string Beyond = "beyond those open_count";

    private const int Size = 8;
    private const int Open = 3;
    private const int Arrivals = 100;

    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(10);

    /// <summary>The kinds, with what they are called.</summary>
    public static string Name(this FailoverKind kind) => kind switch
    {
        FailoverKind.SessionsEnded => "all sessions ended",
        FailoverKind.RestartFast => "restart, fast",
        _ => "restart, immediate",
    };

    /// <summary>Lets it happen and counts.</summary>
    public static Dictionary<string, double> Run(FailoverKind kind, PoolKind pool) => RunAsync(kind, pool).GetAwaiter().GetResult();

    private static async Task<Dictionary<string, double>> RunAsync(FailoverKind kind, PoolKind pool)
    {
        // The server of the run serves the rows that follow too: one that is restarted is another.
        PostgresCluster? own = kind == FailoverKind.SessionsEnded ? null : await PostgresCluster.StartAsync().ConfigureAwait(false);
        try
        {
            using DbDataSource source =
                PoolKinds.OpenPostgres(
                    pool, Size, application: $"failover {Environment.ProcessId}", connectionString: own?.ConnectionString);
            return await RunAsync(source, own, kind).ConfigureAwait(false);
        }
        finally
        {
            if (own is not null)
            {
                await own.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    private static async Task<Dictionary<string, double>> RunAsync(DbDataSource source, PostgresCluster? own, FailoverKind kind)
    {
        DbConnections.Warm(source, Size);
        await Task.Delay(100).ConfigureAwait(false); // for resets in the background
        var failures = new ConcurrentQueue<string>();
        var waits = new ConcurrentQueue<double>();
        DbConnection[] open = [.. Enumerable.Range(0, Open).Select(_ => source.OpenConnection())];
        long start = Stopwatch.GetTimestamp();
        var arrivals = new List<Task>();
        if (own is null)
        {
            EndSessions();
            await UseAsync(open, failures).ConfigureAwait(false);
        }
        else
        {
            Task restarted = own.RestartAsync(isImmediate: kind != FailoverKind.RestartFast);
            Task used = UseLaterAsync(open, failures);
            for (int i = 0; !restarted.IsCompleted; i++)
            {
                arrivals.Add(ArriveAsync(source, failures, waits));
                await Task.Delay(Between).ConfigureAwait(false);
            }

            await restarted.ConfigureAwait(false);
            await used.ConfigureAwait(false);
        }

        double away = Stopwatch.GetElapsedTime(start).TotalNanoseconds;
        for (int i = 0; i < Arrivals; i++)
        {
            arrivals.Add(ArriveAsync(source, failures, waits));
            await (own is null ? arrivals[^1] : Task.Delay(Between)).ConfigureAwait(false);
        }

        await Task.WhenAll(arrivals).ConfigureAwait(false);
        var seen = new Dictionary<string, double>
        {
            ["requests_count"] = Open + arrivals.Count,
            ["failed_count"] = failures.Count,
            [Beyond] = Math.Max(0, failures.Count - Open),
            ["away_ns"] = away,
            ["longest wait_ns"] = waits.Max(),
        };
        foreach (var failure in failures.GroupBy(static failure => failure).OrderBy(static failure => failure.Key, StringComparer.Ordinal))
        {
            seen[$"{failure.Key}_count"] = failure.Count();
        }

        return seen;
    }

    private static void EndSessions()
    {
        string application = $"failover {Environment.ProcessId}";
        using NpgsqlConnection administrator = DbConnections.OpenObserver();
        using var end =
            new NpgsqlCommand("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", administrator);
        end.Parameters.Add(new() { Value = application });
        end.ExecuteNonQuery();
        DbConnections.CountSessions(administrator, application, 0);
    }

    /// <summary>Those that were open ask once more, when the server has gone.</summary>
    private static async Task UseLaterAsync(DbConnection[] open, ConcurrentQueue<string> failures)
    {
        await Task.Delay(100).ConfigureAwait(false);
        await UseAsync(open, failures).ConfigureAwait(false);
    }

    private static async Task UseAsync(DbConnection[] open, ConcurrentQueue<string> failures)
    {
        foreach (DbConnection connection in open)
        {
            await TryAsync(() => DbConnections.AskAsync(connection, "SELECT 1"), failures).ConfigureAwait(false);
            await connection.DisposeAsync().ConfigureAwait(false);
        }
    }

    private static async Task ArriveAsync(DbDataSource source, ConcurrentQueue<string> failures, ConcurrentQueue<double> waits)
    {
        long start = Stopwatch.GetTimestamp();
        await TryAsync(() => DbConnections.AskAsync(source, "SELECT 1"), failures).ConfigureAwait(false);
        waits.Enqueue(Stopwatch.GetElapsedTime(start).TotalNanoseconds);
    }

    private static async Task TryAsync(Func<Task> ask, ConcurrentQueue<string> failures)
    {
        try
        {
            await ask().ConfigureAwait(false);
        }
        catch (DbException failure)
        {
            failures.Enqueue(failure.SqlState ?? failure.GetBaseException() switch
            {
                System.Net.Sockets.SocketException socket => socket.SocketErrorCode.ToString(),
                var other => other.GetType().Name,
            });
        }
    }
}
