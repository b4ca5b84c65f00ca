using System.Data.Common;
using System.Net.Sockets;
using MySqlConnector;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.MySql;

/// <summary>Lets a fault happen to our pool and to the provider's own, at the same moment: no more requests fail with ours.</summary>
public sealed class MySqlComparedFaults(MySqlServer server) : MySqlFaultTest(server)
{
    private const int Sessions = 8;
    private const int Held = 3;
    private const int Requests = 60;

    /// <summary>How long a command, an opening and the cancelling of either may take; behind a partition each of them does.</summary>
    private const string Times = "Default Command Timeout=2;Connection Timeout=2;Cancellation Timeout=1;";

    [MySqlTheory]
    [InlineData("all sessions ended")]
    [InlineData("all connections silent")]
    public async Task No_more_requests_fail_than_with_the_providers_own_pool(string fault)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource ours = NewPool(Patient(Sessions), proxy.Port, Times);
        await using var providers = new MySqlDataSource(
            $"{MySqlServer.GuestOf(Server.ConnectionStringTo(proxy.Port))};Maximum Pool Size={Sessions};{Times}");

        int failedOurs = await CountAsync(ours, fault, proxy);
        int failedProviders = await CountAsync(providers, fault, proxy);

        Assert.Equal(Held, failedOurs); // those that were open
        Assert.InRange(failedOurs, 0, failedProviders);
    }

    /// <summary>Opens sessions, leaves some of them open, lets the fault happen, and asks on: how many requests fail.</summary>
    private async Task<int> CountAsync(DbDataSource source, string fault, FaultProxy proxy)
    {
        var open = new List<DbConnection>();
        for (int i = 0; i < Sessions; i++)
        {
            open.Add(await source.OpenConnectionAsync());
        }

        foreach (DbConnection connection in open[Held..])
        {
            await connection.DisposeAsync();
        }

        if (source is PooledDbDataSource pool)
        {
            await SettleAsync(pool);
        }

        if (fault == "all sessions ended")
        {
            Assert.InRange(await Server.KillAllAsync(), Sessions, int.MaxValue); // those of the other pool too
        }
        else
        {
            proxy.FreezeAll();
        }

        int failed = 0;
        foreach (DbConnection connection in open[..Held])
        {
            failed += await HasFailedAsync(async () =>
            {
                await using (connection)
                {
                    await AskAsync(connection);
                }
            });
        }

        for (int i = 0; i < Requests; i++)
        {
            failed += await HasFailedAsync(async () =>
            {
                await using DbConnection connection = await source.OpenConnectionAsync();
                await AskAsync(connection);
            });
        }

        return failed;
    }

    private static async Task<int> HasFailedAsync(Func<Task> request)
    {
        try
        {
            await request();
            return 0;
        }
        catch (Exception failure) when (failure is DbException or IOException or SocketException)
        {
            return 1;
        }
    }
}
