using System.Data.Common;
using System.Diagnostics;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>What one process of a fleet does.</summary>
/// <param name="ConnectionString">Where to, for Npgsql.</param>
/// <param name="Pool">Who pools in the process.</param>
/// <param name="MaxSize">The largest size of its pool.</param>
/// <param name="IsTransactionMode">A pooler in transaction mode stands between.</param>
/// <param name="Callers">How many ask at a time, each again as soon as it is answered.</param>
/// <param name="Seconds">For how long.</param>
/// <param name="ResetsLater">Our pool sends the reset with the next statement.</param>
internal sealed record FleetTask(
    string ConnectionString, PoolKind Pool, int MaxSize, bool IsTransactionMode, int Callers, double Seconds, bool ResetsLater = false);

/// <summary>What the process saw.</summary>
/// <param name="Times">The time of each answer, from the wish for a connection on, in microseconds.</param>
/// <param name="Failures">How often requests failed, by SQLSTATE or type.</param>
internal sealed record FleetSeen(IReadOnlyList<int> Times, IReadOnlyDictionary<string, int> Failures);

/// <summary>A process of a fleet: reads its task, says that it is ready, begins when it is told, and says what it saw.</summary>
internal static class FleetMember
{
    /// <summary>The only argument of such a process.</summary>
    public const string Argument = "--fleet-member";

    /// <summary>The line that says that it is ready, and the one that it waits for.</summary>
    public const string Ready = "ready";

    /// <summary>What each request asks: a transaction of a millisecond or so.</summary>
    private const string Question = "SELECT count(*) FROM generate_series(1, 2000) g WHERE g % 7 = 0";

    /// <summary>How long a request waits for a connection.</summary>
    private static readonly TimeSpan RentTimeout = TimeSpan.FromSeconds(5);

    /// <summary>Runs it; returns when it is done, or its input has ended.</summary>
    public static async Task<int> RunAsync(TextReader input, TextWriter output)
    {
        if (await input.ReadLineAsync().ConfigureAwait(false) is not { } line)
        {
            return 0;
        }

        FleetTask task = MessageLine.Read<FleetTask>(line);
        DbDataSource source = Open(task);
        await using (source.ConfigureAwait(false))
        {
            await output.WriteLineAsync(Ready).ConfigureAwait(false);
            await output.FlushAsync().ConfigureAwait(false);
            if (await input.ReadLineAsync().ConfigureAwait(false) is not null)
            {
                FleetSeen seen = await AskAllAsync(source, task.Callers, TimeSpan.FromSeconds(task.Seconds)).ConfigureAwait(false);
                await output.WriteLineAsync(MessageLine.Write(seen)).ConfigureAwait(false);
                await output.FlushAsync().ConfigureAwait(false);
            }
        }

        return 0;
    }

    /// <summary>The process's pool, as docs/fleet.md says that it is set.</summary>
    internal static DbDataSource Open(FleetTask task)
    {
        string text = new NpgsqlConnectionStringBuilder(task.ConnectionString)
        {
            Pooling = task.Pool == PoolKind.Provider,
            MaxPoolSize = task.MaxSize,
            Timeout = (int)RentTimeout.TotalSeconds,
            NoResetOnClose = task.IsTransactionMode,
            Enlist = false,
        }.ConnectionString;
        NpgsqlDataSource native = NpgsqlDataSource.Create(text);
        return task.Pool == PoolKind.Tidepool
            ? new PooledDbDataSource(native, new PooledDbOptions
            {
                Pool = new() { Name = "fleet", MaxSize = task.MaxSize, RentTimeout = RentTimeout },
                SessionPooler = task.IsTransactionMode ? SessionPooler.Transaction : SessionPooler.Session,
                ResetWithNextStatement = task.ResetsLater,
            })
            : native;
    }

    /// <summary>Lets so many callers ask for a time.</summary>
    internal static async Task<FleetSeen> AskAllAsync(DbDataSource source, int callers, TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        (List<int> Times, List<string> Failures)[] all = await Task.WhenAll(Enumerable.Range(0, callers).Select(_ => Task.Run(async () =>
        {
            (List<int> times, List<string> failures) = (new List<int>(), new List<string>());
            while (Stopwatch.GetElapsedTime(start) < time)
            {
                long asked = Stopwatch.GetTimestamp();
                try
                {
                    await DbConnections.AskAsync(source, Question).ConfigureAwait(false);
                    times.Add((int)Stopwatch.GetElapsedTime(asked).TotalMicroseconds);
                }
                catch (Exception failure) when (failure is DbException or TimeoutException)
                {
                    // Npgsql reports as a TimeoutException that a pool's first session was not open in time.
                    failures.Add(NameOf(failure));
                }
            }

            return (times, failures);
        }))).ConfigureAwait(false);
        return new FleetSeen(
            [.. all.SelectMany(static one => one.Times)],
            all.SelectMany(static one => one.Failures).CountBy(static name => name).ToDictionary());
    }

    /// <summary>The server's code, or what kind of wait was in vain.</summary>
    private static string NameOf(Exception failure) =>
        (failure as DbException)?.SqlState
            ?? (failure is PooledDbException { PoolError: { } error } ? error : failure.GetBaseException()).GetType().Name;
}
