using System.Diagnostics;
using System.Globalization;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>What stands between a fleet and its server.</summary>
internal enum FleetWay
{
    /// <summary>Nothing.</summary>
    Direct,

    /// <summary>PgBouncer in session mode.</summary>
    Session,

    /// <summary>PgBouncer in transaction mode.</summary>
    Transaction,
}

/// <summary>Processes with a pool each, against one server with few connections.</summary>
/// <param name="Way">What stands between.</param>
/// <param name="Pool">Who pools in each process.</param>
/// <param name="MaxSize">The largest size of each pool.</param>
internal sealed record FleetRun(FleetWay Way, PoolKind Pool, int MaxSize)
{
    /// <summary>Metric: failed requests.</summary>
    public const string Failed = "failed_count";

    /// <summary>How many processes there are.</summary>
    public const int Processes = 8;

    /// <summary>How many callers each one has.</summary>
    public const int Callers = 20;

    /// <summary>Connections that the server has for all of them.</summary>
    public const int ServerConnections = 20;

    private const string Role = "fleet";
    private const string NextLine = "go";

    /// <summary>The sum of all pools' largest sizes.</summary>
    public int Sum => Processes * MaxSize;

    /// <summary>What it is called in tables.</summary>
    public string Name => Way switch
    {
        FleetWay.Direct => "no pooler",
        FleetWay.Session => "session mode",
        _ => "transaction mode",
    };

    /// <summary>Runs it on a server of its own.</summary>
    /// <param name="seconds">For how long callers ask.</param>
    public Dictionary<string, double> Run(double seconds) => RunAsync(seconds).GetAwaiter().GetResult();

    internal async Task<Dictionary<string, double>> RunAsync(double seconds)
    {
        PostgresCluster server = await PostgresCluster.StartAsync(
            new Dictionary<string, string> { ["max_connections"] = "60" }).ConfigureAwait(false);
        await using (server.ConfigureAwait(false))
        {
            await server.ExecuteAsync(
                $"CREATE ROLE {Role} LOGIN PASSWORD '{Role}' CONNECTION LIMIT {ServerConnections}").ConfigureAwait(false);
            string text = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Username = Role, Password = Role }.ConnectionString;
            PgBouncer? pooler = Way == FleetWay.Direct
                ? null
                : await PgBouncer.StartAsync(text, Way == FleetWay.Session ? "session" : "transaction", ServerConnections)
                    .ConfigureAwait(false);
            try
            {
                return await RunAsync(server, pooler?.ConnectionString ?? text, seconds).ConfigureAwait(false);
            }
            finally
            {
                if (pooler is not null)
                {
                    await pooler.DisposeAsync().ConfigureAwait(false);
                }
            }
        }
    }

    private async Task<Dictionary<string, double>> RunAsync(PostgresCluster server, string connectionString, double seconds)
    {
        var task = new FleetTask(connectionString, Pool, MaxSize, Way == FleetWay.Transaction, Callers, seconds);
        Process[] members = [.. Enumerable.Range(0, Processes).Select(_ => Start())];
        try
        {
            foreach (Process member in members)
            {
                await TellAsync(member, MessageLine.Write(task)).ConfigureAwait(false);
            }

            foreach (Process member in members)
            {
                await HearAsync(member).ConfigureAwait(false);
            }

            foreach (Process member in members)
            {
                await TellAsync(member, NextLine).ConfigureAwait(false);
            }

            Task<string>[] seen = [.. members.Select(HearAsync)];
            int most = await CountAsync(server, Task.WhenAll(seen)).ConfigureAwait(false);
            return Summarize([.. seen.Select(static line => MessageLine.Read<FleetSeen>(line.Result))], seconds, most);
        }
        finally
        {
            Array.ForEach(members, End);
        }
    }

    /// <summary>The metrics of all processes together.</summary>
    internal static Dictionary<string, double> Summarize(IReadOnlyList<FleetSeen> seen, double seconds, int mostSessions)
    {
        int[] times = [.. seen.SelectMany(static one => one.Times).Order()];
        var metrics = new Dictionary<string, double>
        {
            ["answers per second_count"] = times.Length / seconds,
            [Failed] = seen.Sum(static one => one.Failures.Values.Sum()),
            ["server sessions_count"] = mostSessions,
        };
        if (times.Length > 0)
        {
            metrics["half within_ns"] = 1000.0 * times[times.Length / 2];
            metrics["99 % within_ns"] = 1000.0 * times[(int)(times.Length * 0.99)];
            metrics["longest_ns"] = 1000.0 * times[^1];
        }

        foreach (var kind in seen.SelectMany(static one => one.Failures).GroupBy(static one => one.Key).OrderBy(static one => one.Key))
        {
            metrics[$"{kind.Key}_count"] = kind.Sum(static one => one.Value);
        }

        return metrics;
    }

    /// <summary>The most sessions of the fleet that the server has at a time, looked at again and again until it is over.</summary>
    private static async Task<int> CountAsync(PostgresCluster server, Task over)
    {
        int most = 0;
        NpgsqlConnection observer = await server.OpenAsync().ConfigureAwait(false);
        await using (observer.ConfigureAwait(false))
        {
            while (!over.IsCompleted)
            {
                using var command = new NpgsqlCommand($"SELECT count(*) FROM pg_stat_activity WHERE usename = '{Role}'", observer);
                object? count = await command.ExecuteScalarAsync().ConfigureAwait(false);
                most = Math.Max(most, Convert.ToInt32(count, CultureInfo.InvariantCulture));
                await Task.WhenAny(over, Task.Delay(50)).ConfigureAwait(false);
            }
        }

        await over.ConfigureAwait(false);
        return most;
    }

    private static Process Start()
    {
        ProcessStartInfo info = ChildCommand.OfThisProgram().ToStartInfo(FleetMember.Argument);
        return Process.Start(info) ?? throw new LabProcessException("A process of the fleet did not start.");
    }

    private static async Task TellAsync(Process member, string line)
    {
        await member.StandardInput.WriteLineAsync(line).ConfigureAwait(false);
        await member.StandardInput.FlushAsync().ConfigureAwait(false);
    }

    private static async Task<string> HearAsync(Process member) =>
        await member.StandardOutput.ReadLineAsync().ConfigureAwait(false)
            ?? throw new LabProcessException(
                $"A process of the fleet ended early: {await member.StandardError.ReadToEndAsync().ConfigureAwait(false)}");

    private static void End(Process member)
    {
        try
        {
            member.Kill(entireProcessTree: true);
            member.WaitForExit();
        }
        catch (InvalidOperationException)
        {
            // It has ended by itself.
        }

        member.Dispose();
    }
}
