using System.Data.Common;
using System.Diagnostics;
using System.Globalization;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>A time without a server.</summary>
/// <param name="Seconds">How long it is.</param>
/// <param name="IsKilled">Whether the server is killed and started again. Otherwise a proxy refuses, exact to a millisecond.</param>
/// <param name="Times">How many of them are measured, one after another.</param>
internal sealed record Outage(double Seconds, bool IsKilled, int Times)
{
    /// <summary>The outages of a run.</summary>
    public static IReadOnlyList<Outage> Of(LabMode mode) => mode == LabMode.Full
        ? [new(1, false, 5), new(2.3, false, 4), new(2.3, true, 3), new(10, false, 3), new(60, false, 1)]
        : [new(1, false, 1)];

    /// <summary>What it is called in tables.</summary>
    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Seconds} s{(IsKilled ? ", killed" : "")}");
}

/// <summary>What callers saw of one outage.</summary>
/// <param name="Away">How long the server was away.</param>
/// <param name="Late">The time of each caller from the server's return to its first answer.</param>
/// <param name="Failed">Requests that failed.</param>
/// <param name="TimedOut">Those of them that waited in vain.</param>
/// <param name="Attempts">Connections that were tried while the server was away.</param>
internal sealed record OutageSeen(TimeSpan Away, IReadOnlyList<TimeSpan> Late, int Failed, int TimedOut, int Attempts);

/// <summary>
/// How soon callers are served after an outage, how many of their requests fail, and how often a server that is away is tried.
/// All connections lead through a proxy, which counts them.
/// </summary>
internal static class Recovery
{
    /// <summary>Metric: failed requests of one outage.</summary>
    public const string Failed = "failed_count";

    /// <summary>Metric: the lateness of half of the callers, as a share of the outage.</summary>
    public const string Share = "share_percent";

    /// <summary>Metric: connections tried in one second of the outage.</summary>
    public const string AttemptsPerSecond = "tries per second";

    /// <summary>Sessions of the pool.</summary>
    public const int Size = 16;

    /// <summary>Callers, each with one request after another.</summary>
    public const int Callers = 32;

    /// <summary>A share of an outage that is shorter is one of this: 15 % of it are 0.2 s.</summary>
    private static readonly TimeSpan Shortest = TimeSpan.FromSeconds(0.2 / 0.15);

    /// <summary>A caller that was not served for so long after an outage asks no more; it counts as served then.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>The pause of a caller between two requests.</summary>
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(20);

    private static readonly TimeSpan Before = TimeSpan.FromMilliseconds(200);

    /// <summary>Lets outages happen to the run's server, or to one of its own, and counts.</summary>
    public static Dictionary<string, double> Run(Outage outage, PoolKind pool) => RunAsync(outage, pool).GetAwaiter().GetResult();

    /// <summary>The metrics of outages that were alike: counts are means, times are of all callers together.</summary>
    internal static Dictionary<string, double> Summarize(IReadOnlyList<OutageSeen> seen)
    {
        TimeSpan[] late = [.. seen.SelectMany(static one => one.Late).Order()];
        TimeSpan half = late[late.Length / 2];
        double away = seen.Average(static one => one.Away.TotalSeconds);
        return new()
        {
            ["half after_ns"] = half.TotalNanoseconds,
            [Share] = 100 * half.TotalSeconds / Math.Max(away, Shortest.TotalSeconds),
            ["all after_ns"] = late[^1].TotalNanoseconds,
            [Failed] = seen.Average(static one => (double)one.Failed),
            ["timed out_count"] = seen.Average(static one => (double)one.TimedOut),
            [AttemptsPerSecond] = seen.Average(static one => (double)one.Attempts) / away,
        };
    }

    /// <summary>One outage of a server behind a proxy.</summary>
    /// <param name="pool">Who pools.</param>
    /// <param name="connectionString">Leads to the proxy.</param>
    /// <param name="proxy">The proxy.</param>
    /// <param name="length">How long the outage lasts.</param>
    /// <param name="server">The server to kill; null lets the proxy refuse.</param>
    internal static async Task<OutageSeen> MeasureAsync(
        PoolKind pool, string connectionString, FaultProxy proxy, TimeSpan length, PostgresCluster? server)
    {
        string application = $"recovery {Environment.ProcessId}";
        using DbDataSource source = PoolKinds.OpenPostgres(pool, Size, application: application, connectionString: connectionString);
        await WarmAsync(source).ConfigureAwait(false);
        var moment = new Moment();
        Task<CallerSeen>[] callers = [.. Enumerable.Range(0, Callers).Select(_ => Task.Run(() => CallAsync(source, moment)))];
        await Task.Delay(Before).ConfigureAwait(false);
        int triedBefore = proxy.Accepted;
        long start = Stopwatch.GetTimestamp();
        if (server is null)
        {
            proxy.IsRefusing = true;
            proxy.ResetAll();
            await Task.Delay(length).ConfigureAwait(false);
        }
        else
        {
            await server.StopAsync(isImmediate: true).ConfigureAwait(false);
            TimeSpan left = length - Stopwatch.GetElapsedTime(start);
            await Task.Delay(left > TimeSpan.Zero ? left : TimeSpan.Zero).ConfigureAwait(false);
            await server.StartAgainAsync().ConfigureAwait(false);
        }

        int attempts = proxy.Accepted - triedBefore;
        long back = Stopwatch.GetTimestamp();
        moment.Back = back;
        proxy.IsRefusing = false;
        CallerSeen[] seen = await Task.WhenAll(callers).ConfigureAwait(false);
        return new(
            Away: Stopwatch.GetElapsedTime(start, back),
            Late: [.. seen.Select(static one => one.Late)],
            Failed: seen.Sum(static one => one.Failed),
            TimedOut: seen.Sum(static one => one.TimedOut),
            attempts);
    }

    private static async Task<Dictionary<string, double>> RunAsync(Outage outage, PoolKind pool)
    {
        PostgresCluster? own = outage.IsKilled ? await PostgresCluster.StartAsync().ConfigureAwait(false) : null;
        try
        {
            var address = new NpgsqlConnectionStringBuilder(own?.ConnectionString ?? LabServer.ConnectionString);
            var proxy = new FaultProxy(address.Port);
            await using (proxy.ConfigureAwait(false))
            {
                address.Port = proxy.Port;
                var length = TimeSpan.FromSeconds(outage.Seconds);
                var seen = new List<OutageSeen>();
                for (int i = 0; i < outage.Times; i++)
                {
                    seen.Add(await MeasureAsync(pool, address.ConnectionString, proxy, length, own).ConfigureAwait(false));
                }

                return Summarize(seen);
            }
        }
        finally
        {
            if (own is not null)
            {
                await own.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    /// <summary>
    /// Opens all sessions at once and closes them, without a blocked thread: the proxy lives in this process, and what a pool does on
    /// threads that block would wait for those that the proxy needs.
    /// </summary>
    private static async Task WarmAsync(DbDataSource source)
    {
        IEnumerable<Task<DbConnection>> opening = Enumerable.Range(0, Size).Select(_ => source.OpenConnectionAsync().AsTask());
        DbConnection[] all = await Task.WhenAll(opening).ConfigureAwait(false);
        await Task.WhenAll(all.Select(static connection => connection.DisposeAsync().AsTask())).ConfigureAwait(false);
    }

    /// <summary>One request after another, until one that ended after the outage is answered.</summary>
    private static async Task<CallerSeen> CallAsync(DbDataSource source, Moment moment)
    {
        int failed = 0;
        int timedOut = 0;
        while (true)
        {
            bool isAnswered = false;
            try
            {
                await DbConnections.AskAsync(source, "SELECT 1").ConfigureAwait(false);
                isAnswered = true;
            }
            catch (DbException failure)
            {
                failed++;
                timedOut += IsTimeout(failure) ? 1 : 0;
            }

            if (moment.Back is var back and not 0 && Stopwatch.GetElapsedTime(back) is var late && (isAnswered || late > Patience))
            {
                return new(late, failed, timedOut);
            }

            await Task.Delay(Between).ConfigureAwait(false);
        }
    }

    /// <summary>Whether a request timed out waiting for a session, in either pool.</summary>
    private static bool IsTimeout(DbException failure) =>
        failure is PooledDbException { PoolError: ResourcePoolTimeoutException } || failure.InnerException is TimeoutException;

    private readonly record struct CallerSeen(TimeSpan Late, int Failed, int TimedOut);

    /// <summary>When the server was back; 0 before.</summary>
    private sealed class Moment
    {
        private long _back;

        public long Back
        {
            get => Volatile.Read(ref _back);
            set => Volatile.Write(ref _back, value);
        }
    }
}
