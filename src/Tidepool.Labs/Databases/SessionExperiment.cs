using System.Data.Common;
using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// The classic experiment: five times a connection is opened, a row is inserted, the connection is disposed; before, between and
/// after it is asked which sessions there are. Then the pool is cleared, and a last insert leaves a session behind for the end
/// of the process.
/// </summary>
internal static class SessionExperiment
{
    /// <summary>Metric: sessions that the five inserts used.</summary>
    public const string Used = "sessions used_count";

    /// <summary>Metric: sessions after the last of them was disposed.</summary>
    public const string Kept = "left after dispose_count";

    /// <summary>Metric: sessions after the pool was cleared.</summary>
    public const string Cleared = "after clear_count";

    /// <summary>Metric: sessions after the process ended.</summary>
    public const string Ended = "after exit_count";

    private const int Inserts = 5;
    private const string Sessions = "_count";
    private const string Exit = "after the process ended";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>The steps at which sessions are listed, in their order.</summary>
    public static IReadOnlyList<string> Steps { get; } =
    [
        "before",
        .. Enumerable.Range(1, Inserts).SelectMany(i => new[] { Inside(i), Disposed(i) }),
        "after clear",
        "after one more insert",
        Exit,
    ];

    /// <summary>Runs all but the last step.</summary>
    public static Dictionary<string, double> Run(SessionWitness witness, PoolKind kind)
    {
        var seen = new Dictionary<string, double>();
        int kept = kind == PoolKind.None ? 0 : 1;
        DbDataSource source = witness.Open(kind); // never disposed: the end of the process is part of the experiment
        Note(seen, witness, Steps[0], 0);
        int used = 0;
        for (int i = 1; i <= Inserts; i++)
        {
            using (DbConnection connection = source.OpenConnection())
            {
                Insert(connection, i);
                used += witness.IsNew(connection) ? 1 : 0;
                Note(seen, witness, Inside(i), 1);
            }

            Note(seen, witness, Disposed(i), kept);
        }

        seen[Used] = used;
        seen[Kept] = seen[StepRow.NameOf(Disposed(Inserts), Sessions)];
        PoolKinds.Clear(source);
        seen[Cleared] = Note(seen, witness, "after clear", 0);
        using (DbConnection connection = source.OpenConnection())
        {
            Insert(connection, Inserts + 1);
        }

        Note(seen, witness, "after one more insert", kept);
        return seen;
    }

    /// <summary>The last step, seen by another process.</summary>
    public static Dictionary<string, double> LookAfterExit(SessionWitness witness)
    {
        var seen = new Dictionary<string, double>();
        seen[Ended] = Note(seen, witness, Exit, 0);
        return seen;
    }

    /// <summary>
    /// Lists the sessions, again and again for some seconds while there are more than expected: a server takes note of an end a little
    /// later.
    /// </summary>
    private static int Note(Dictionary<string, double> seen, SessionWitness witness, string step, int expected)
    {
        long start = Stopwatch.GetTimestamp();
        IReadOnlyList<int?> sessions = witness.List();
        while (sessions.Count > expected && Stopwatch.GetElapsedTime(start) < Patience)
        {
            Thread.Sleep(5);
            sessions = witness.List();
        }

        seen[StepRow.NameOf(step, Sessions)] = sessions.Count;
        foreach (var (place, process) in sessions.Index().Where(session => session.Item is not null))
        {
            seen[StepRow.NameOf(step, place == 0 ? " pid_id" : $" pid {place + 1}_id")] = process!.Value;
        }

        return sessions.Count;
    }

    private static void Insert(DbConnection connection, int number)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = $"INSERT INTO visits (number) VALUES ({number})";
        command.ExecuteNonQuery();
    }

    private static string Inside(int insert) => $"inside using, insert {insert}";

    private static string Disposed(int insert) => $"disposed, insert {insert}";
}
