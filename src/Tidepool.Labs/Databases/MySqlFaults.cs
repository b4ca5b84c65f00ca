using System.Data.Common;
using MySqlConnector;

namespace Tidepool.Labs;

/// <summary>What happens to a MariaDB while callers write.</summary>
internal enum MySqlFault
{
    /// <summary>An administrator ends all sessions.</summary>
    SessionsEnded,

    /// <summary>The server is killed and starts again a second later.</summary>
    Killed,

    /// <summary>The server stops in order and starts again a second later.</summary>
    Restart,

    /// <summary>The server becomes read only, and its address leads to another from then on; it still answers its open sessions.</summary>
    Switchover,

    /// <summary>The server has room for fewer sessions than there are callers, and ends those that are open.</summary>
    Full,

    /// <summary>Nothing passes between the callers and the server for a while, as where it hangs; no connection ends.</summary>
    Silent,
}

/// <summary>How many requests of callers that write to a MariaDB fail in a fault.</summary>
internal static class MySqlFaults
{
    /// <summary>Sessions that a server has in <see cref="MySqlFault.Full"/>, without those of this class.</summary>
    private const int Room = 4;

    private const string Writer = "writer";

    /// <summary>In <see cref="MySqlFault.Silent"/>: how long commands and openings may take.</summary>
    private const string Impatient = ";Default Command Timeout=1;Connection Timeout=1";

    private static readonly TimeSpan Down = TimeSpan.FromSeconds(1);

    /// <summary>Longer than both.</summary>
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(3);

    /// <summary>The faults of a run.</summary>
    public static IReadOnlyList<MySqlFault> Of(LabMode mode) =>
        mode == LabMode.Full ? Enum.GetValues<MySqlFault>() : [MySqlFault.Switchover];

    /// <summary>What a fault is called in tables.</summary>
    public static string Name(this MySqlFault fault) => fault switch
    {
        MySqlFault.SessionsEnded => "all sessions ended",
        MySqlFault.Killed => "killed, 1 s down",
        MySqlFault.Restart => "restart, 1 s down",
        MySqlFault.Switchover => "planned switchover",
        MySqlFault.Silent => $"silent for {Silence.TotalSeconds:0} s",
        _ => $"room for {Room} of {Faults.Callers}",
    };

    /// <summary>Lets it happen to servers of its own, and counts.</summary>
    public static Dictionary<string, double> Run(MySqlFault fault, PoolKind pool) =>
        Faults.Summarize(MeasureAsync(fault, pool, Faults.Watched).GetAwaiter().GetResult());

    /// <summary>Lets it happen to servers of its own.</summary>
    /// <param name="fault">What happens.</param>
    /// <param name="pool">The owner of the sessions.</param>
    /// <param name="watched">How long callers go on afterwards.</param>
    internal static async Task<IReadOnlyList<FaultCaller>> MeasureAsync(MySqlFault fault, PoolKind pool, TimeSpan watched)
    {
        MariaDbServer server = await StartAsync().ConfigureAwait(false);
        await using (server.ConfigureAwait(false))
        {
            if (fault is not (MySqlFault.Switchover or MySqlFault.Silent))
            {
                return await MeasureAsync(pool, server, server.Port, () => HappenAsync(fault, server), watched).ConfigureAwait(false);
            }

            var address = new FaultProxy(server.Port);
            await using (address.ConfigureAwait(false))
            {
                if (fault == MySqlFault.Silent)
                {
                    return await MeasureAsync(pool, server, address.Port, () => BeSilentAsync(address), watched, Impatient)
                        .ConfigureAwait(false);
                }

                MariaDbServer next = await StartAsync().ConfigureAwait(false);
                await using (next.ConfigureAwait(false))
                {
                    return await MeasureAsync(pool, server, address.Port, () => MoveAsync(server, next, address), watched)
                        .ConfigureAwait(false);
                }
            }
        }
    }

    /// <summary>A server with a table, and a user who may write to it.</summary>
    private static async Task<MariaDbServer> StartAsync()
    {
        MariaDbServer server = await MariaDbServer.StartAsync(
            new Dictionary<string, string> { ["max_user_connections"] = "1000" }).ConfigureAwait(false);
        await server.ExecuteAsync(
            $"CREATE TABLE written (number int); CREATE USER {Writer}@'127.0.0.1' IDENTIFIED BY '{Writer}'; "
                + $"GRANT INSERT ON lab.written TO {Writer}@'127.0.0.1'").ConfigureAwait(false);
        return server;
    }

    private static async Task<IReadOnlyList<FaultCaller>> MeasureAsync(
        PoolKind pool, MariaDbServer server, int port, Func<Task> happenAsync, TimeSpan watched, string more = "")
    {
        string text = new MySqlConnectionStringBuilder(server.ConnectionStringTo(port))
        {
            UserID = Writer,
            Password = Writer,
        }.ConnectionString + more;
        using DbDataSource source = PoolKinds.OpenMySql(pool, Faults.Callers, connectionString: text);
        return await Faults.MeasureAsync(source, happenAsync, watched).ConfigureAwait(false);
    }

    private static async Task HappenAsync(MySqlFault fault, MariaDbServer server)
    {
        switch (fault)
        {
            case MySqlFault.SessionsEnded:
                await server.KillAllAsync().ConfigureAwait(false);
                break;
            case MySqlFault.Full:
                await server.ExecuteAsync($"SET GLOBAL max_user_connections = {Room}").ConfigureAwait(false);
                await server.KillAllAsync().ConfigureAwait(false);
                break;
            default:
                await server.StopAsync(isImmediate: fault == MySqlFault.Killed).ConfigureAwait(false);
                await Task.Delay(Down).ConfigureAwait(false);
                await server.StartAgainAsync().ConfigureAwait(false);
                break;
        }
    }

    private static async Task BeSilentAsync(FaultProxy address)
    {
        address.SetBlackhole(true);
        await Task.Delay(Silence).ConfigureAwait(false);
        address.SetBlackhole(false);
    }

    private static async Task MoveAsync(MariaDbServer server, MariaDbServer next, FaultProxy address)
    {
        await server.ExecuteAsync("SET GLOBAL read_only = 1").ConfigureAwait(false);
        address.MoveTo(next.Port);
    }
}
