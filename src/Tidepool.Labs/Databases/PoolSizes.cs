using System.Data.Common;
using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// The curve of a pool's size: bursts of callers that all arrive at once, whatever the answers of others, on more and more sessions.
/// </summary>
internal static class PoolSizes
{
    /// <summary>How many arrive at once.</summary>
    public const int Callers = 64;

    /// <summary>What a caller asks of the server, with the name of it.</summary>
    public static IReadOnlyList<(string Name, string Sql)> Questions { get; } =
    [
        ("SELECT 1", "SELECT 1"),
        ("1 ms of computing", "SELECT count(*) FROM generate_series(1, 5000) g WHERE g % 7 = 0"),
        ("5 ms of waiting", "SELECT pg_sleep(0.005)"),
    ];

    /// <summary>The sizes of the curve.</summary>
    public static IReadOnlyList<int> SizesOf(LabMode mode) => mode == LabMode.Full ? [1, 2, 4, 8, 16, 32, 64] : [2, 8, 64];

    /// <summary>The step of a point of the curve.</summary>
    public static string StepOf(string question, int size) => $"{question}, {size}";

    /// <summary>Measures all points.</summary>
    public static Dictionary<string, double> Measure(LabMode mode)
    {
        int bursts = mode == LabMode.Full ? 10 : 2;
        var seen = new Dictionary<string, double>();
        foreach (var (name, sql) in Questions)
        {
            foreach (int size in SizesOf(mode))
            {
                using DbDataSource source = PoolKinds.OpenPostgres(PoolKind.Tidepool, size);
                DbConnections.Warm(source, size);
                RunAsync(source, sql, 1).GetAwaiter().GetResult();
                (double[] times, double seconds) = RunAsync(source, sql, bursts).GetAwaiter().GetResult();
                Array.Sort(times);
                void Note(string metric, double value) => seen[StepRow.NameOf(StepOf(name, size), metric)] = value;
                Note("answers per second_count", times.Length / seconds);
                Note("half within_ns", times[times.Length / 2]);
                Note("99 % within_ns", times[(int)(times.Length * 0.99)]);
            }
        }

        return seen;
    }

    /// <summary>
    /// The time of each caller from the arrival of its burst to its answer, in nanoseconds, and of all bursts, in seconds.
    /// </summary>
    private static async Task<(double[] Times, double Seconds)> RunAsync(DbDataSource source, string sql, int bursts)
    {
        double[] times = new double[bursts * Callers];
        double seconds = 0;
        for (int burst = 0; burst < bursts; burst++)
        {
            int first = burst * Callers;
            long start = Stopwatch.GetTimestamp();
            await Task.WhenAll(Enumerable.Range(first, Callers).Select(caller => Task.Run(async () =>
            {
                await DbConnections.AskAsync(source, sql).ConfigureAwait(false);
                times[caller] = Stopwatch.GetElapsedTime(start).TotalNanoseconds;
            }))).ConfigureAwait(false);
            seconds += Stopwatch.GetElapsedTime(start).TotalSeconds;
        }

        return (times, seconds);
    }
}
