using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests;

/// <summary>What one rental sends, counted by a proxy in front of the server or the pooler; docs/fleet.md has the numbers.</summary>
[Collection(PostgresServer.Collection)]
public sealed class RoundTripTests(PostgresServer server)
{
    private const int Rentals = 20;

    [PgBouncerTheory]
    [InlineData("session", "provider", 1)]
    [InlineData("session", "default", 2)]
    [InlineData("session", "with next", 1)]
    [InlineData("session", "none", 1)]
    [InlineData("transaction", "provider", 1)]
    [InlineData("transaction", "default", 1)]
    [InlineData("", "provider", 1)]
    [InlineData("", "default", 2)]
    [InlineData("", "with next", 1)]
    [InlineData("", "with next, lent", 1)]
    [InlineData("", "with next, kept alive", 2)]
    [InlineData("", "default, lent", 2)]
    [InlineData("", "none", 1)]
    public async Task A_rental_that_asks_once_has_so_many_round_trips(string mode, string pool, int expected)
    {
        await using PgBouncer? bouncer = mode.Length == 0 ? null : await PgBouncer.StartAsync(server.Cluster.ConnectionString, mode);
        await using var proxy = new FaultProxy(bouncer?.Port ?? server.Cluster.Port);
        await using DbDataSource source = Open(server.Cluster.ConnectionStringTo(proxy.Port), pool, mode == "transaction");
        bool isLent = pool.EndsWith("lent", StringComparison.Ordinal);
        await UseAsync(source, isLent);
        await UseAsync(source, isLent);
        long before = proxy.ToServer.Pieces;
        for (int i = 0; i < Rentals; i++)
        {
            await UseAsync(source, isLent);
        }

        Assert.Equal(Rentals * expected, proxy.ToServer.Pieces - before);
    }

    [PgBouncerTheory]
    [InlineData("session", ResetMode.Background, 10, 11)]
    [InlineData("session", ResetMode.None, 0, 1)]
    [InlineData("transaction", ResetMode.Background, 0, 0)]
    public async Task The_poolers_own_reset_comes_when_a_client_leaves_in_session_mode_and_never_in_transaction_mode(
        string mode, ResetMode reset, int inUse, int inAll)
    {
        await using PostgresCluster cluster = await StartLoggingAsync();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(cluster.ConnectionString, mode, poolSize: 1);
        PooledDbDataSource source = NewPool(bouncer, mode, reset);
        await UseAsync(source);
        int before = CountResets(cluster);
        for (int i = 0; i < 10; i++)
        {
            await UseAsync(source);
        }

        Assert.Equal(inUse, CountResets(cluster) - before);
        await source.DisposeAsync();
        await FaultTest.UntilAsync(() => CountResets(cluster) - before >= inAll, "the pooler has seen the end of its client");
        Assert.Equal(inAll, CountResets(cluster) - before);
    }

    [PgBouncerFact]
    public async Task With_server_reset_query_always_the_pooler_resets_after_each_transaction()
    {
        await using PostgresCluster cluster = await StartLoggingAsync();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(
            cluster.ConnectionString, "transaction", poolSize: 1, more: "server_reset_query_always = 1");
        await using PooledDbDataSource source = NewPool(bouncer, "transaction", ResetMode.None);
        await UseAsync(source);
        int before = CountResets(cluster);
        for (int i = 0; i < 10; i++)
        {
            await UseAsync(source);
        }

        Assert.InRange(CountResets(cluster) - before, 9, 11); // that of the last transaction before and in it may still come
    }

    private static Task<PostgresCluster> StartLoggingAsync() =>
        PostgresCluster.StartAsync(new Dictionary<string, string> { ["log_statement"] = "all" });

    private static int CountResets(PostgresCluster cluster) => cluster.ReadLog().Split("DISCARD ALL").Length - 1;

    private static PooledDbDataSource NewPool(PgBouncer bouncer, string mode, ResetMode reset) => new(
        NpgsqlFactory.Instance,
        bouncer.ConnectionString,
        new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ValidateAfterIdle = FaultTest.Never, ResetMode = reset },
            SessionPooler = mode == "transaction" ? SessionPooler.Transaction : SessionPooler.Session,
        });

    private static DbDataSource Open(string connectionString, string pool, bool isTransaction) => pool == "provider"
        ? NpgsqlDataSource.Create($"{connectionString};Maximum Pool Size=1;No Reset On Close={isTransaction}")
        : new PooledDbDataSource(
            NpgsqlFactory.Instance,
            pool.EndsWith("kept alive", StringComparison.Ordinal) ? $"{connectionString};Keepalive=600" : connectionString,
            new PooledDbOptions
            {
                Pool = new()
                {
                    MaxSize = 1,
                    ValidateAfterIdle = FaultTest.Never,
                    TimeProvider = new StoppedTime(), // else a reset is done after a second that goes with the next statement
                    ResetMode = pool == "none" ? ResetMode.None : ResetMode.Background,
                },
                SessionPooler = isTransaction ? SessionPooler.Transaction : SessionPooler.None,
                ResetWithNextStatement = pool.StartsWith("with next", StringComparison.Ordinal),
            });

    /// <summary>One rental, and what the pool does after it.</summary>
    private static async Task UseAsync(DbDataSource source, bool isLent = false)
    {
        if (isLent)
        {
            await using DbConnectionLease lease = await ((PooledDbDataSource)source).RentNativeAsync();
            Assert.Equal(1, lease.Connection.Read<int>("SELECT 1"));
        }
        else
        {
            await using DbConnection connection = await source.OpenConnectionAsync();
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
        }

        (source as PooledDbDataSource)?.Settle();
    }
}
