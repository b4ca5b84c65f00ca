using System.Data;
using System.Data.Common;
using Dapper;
using Microsoft.EntityFrameworkCore;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What programs do with a real server: batches, Dapper, Entity Framework, other databases, other threads.</summary>
[Collection(PostgresServer.Collection)]
public sealed class PostgresFeatureTests(PostgresServer server)
{
    [PostgresFact]
    public async Task Dapper_works_on_pooled_connections()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        await using PooledDbConnection connection = pool.CreateConnection();
        Assert.Equal([1, 2, 3], await connection.QueryAsync<int>("SELECT generate_series(1, @n)", new { n = 3 }));
        Assert.Equal(ConnectionState.Closed, connection.State);
    }

    [PostgresFact]
    public async Task Entity_Framework_works_on_a_lent_connection_and_the_session_is_used_again()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        int[] processes = new int[3];
        for (int i = 0; i < processes.Length; i++)
        {
            await using DbConnectionLease lease = await pool.RentNativeAsync();
            DbContextOptions<Shop> options = new DbContextOptionsBuilder<Shop>().UseNpgsql(lease.Connection).Options;
            await using var shop = new Shop(options);
            if (i == 0)
            {
                await shop.Database.ExecuteSqlRawAsync(
                    "DROP TABLE IF EXISTS \"Items\"; CREATE TABLE \"Items\" (\"Id\" serial PRIMARY KEY, \"Name\" text NOT NULL)");
            }

            shop.Items.Add(new Item { Name = $"item {i}" });
            await shop.SaveChangesAsync();
            Assert.Equal(i + 1, await shop.Items.CountAsync());
            processes[i] = ((NpgsqlConnection)lease.Connection).ProcessID;
        }

        Assert.Single(processes.Distinct());
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task A_session_that_went_to_another_database_is_not_used_again()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using (PooledDbConnection connection = pool.OpenConnection())
        {
            NpgsqlConnection native = connection.Unwrap<NpgsqlConnection>();
            Exception? error = Record.Exception(() => connection.ChangeDatabase("template1"));
            Assert.True(error is not null || native.Database == "template1");
        }

        await using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal("postgres", next.Read<string>("SELECT current_database()"));
        Assert.Equal(2, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task A_session_enlisted_by_hand_comes_back_when_its_transaction_is_over()
    {
        await server.Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS enlisted (a int); TRUNCATE enlisted");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        using (var transaction = new System.Transactions.CommittableTransaction())
        {
            PooledDbConnection connection = pool.OpenConnection();
            connection.EnlistTransaction(transaction);
            connection.Run("INSERT INTO enlisted VALUES (1)");
            connection.Close();
            Assert.Equal(1, pool.GetStatistics().Leased);
            transaction.Commit();
        }

        Sql.Until(() => pool.GetStatistics().Leased == 0, "the session to come back");
        await using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(1L, next.Read<long>("SELECT count(*) FROM enlisted"));
    }

    /// <summary>The first caller has an ambient transaction, and its session is another one's when that transaction ends.</summary>
    [PostgresTheory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task An_ambient_transaction_that_is_ignored_ends_nothing_of_the_pool(bool isAsync, bool completes)
    {
        await server.Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS ignoring (a int); TRUNCATE ignoring");
        System.Transactions.Transaction? seen = null;
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            IgnoreAmbientTransactions = true,
            InitializeSession = _ => seen = System.Transactions.Transaction.Current,
        });
        PooledDbConnection next;
        DbTransaction transaction;
        using (var scope = new System.Transactions.TransactionScope(System.Transactions.TransactionScopeAsyncFlowOption.Enabled))
        {
            await using (PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : pool.OpenConnection())
            {
                Assert.NotNull(System.Transactions.Transaction.Current);
                connection.Run("INSERT INTO ignoring VALUES (1)");
            }

            next = pool.OpenConnection();
            transaction = next.BeginTransaction();
            next.Run("INSERT INTO ignoring VALUES (2)");
            if (completes)
            {
                scope.Complete();
            }
        }

        await transaction.CommitAsync();
        await next.DisposeAsync();
        await using PooledDbConnection last = await pool.OpenConnectionAsync();
        Assert.Equal(3L, last.Read<long>("SELECT sum(a) FROM ignoring"));
        Assert.Null(seen);
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task A_session_whose_transaction_was_over_before_it_was_closed_comes_back_at_once()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        PooledDbConnection connection = pool.OpenConnection();
        using (var transaction = new System.Transactions.CommittableTransaction())
        {
            connection.EnlistTransaction(transaction);
            connection.Run("SELECT 1");
            transaction.Rollback();
        }

        await connection.CloseAsync();
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [PostgresFact]
    public async Task Many_callers_on_few_sessions_all_get_their_own_answers()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 4 } });
        await Task.WhenAll(Enumerable.Range(0, 16).Select(caller => Task.Run(async () =>
        {
            for (int i = 0; i < 50; i++)
            {
                await using PooledDbConnection connection = await pool.OpenConnectionAsync();
                await using DbCommand command = connection.CreateCommand();
                command.CommandText = $"SELECT set_config('my.caller', '{caller}', false), coalesce(current_setting('my.seen', true), '')";
                await using DbDataReader reader = await command.ExecuteReaderAsync();
                Assert.True(await reader.ReadAsync());
                Assert.Equal(caller.ToString(System.Globalization.CultureInfo.InvariantCulture), reader.GetString(0));
                Assert.Equal("", reader.GetString(1));
            }
        })));
        pool.Settle();
        pool.Validate();
        Assert.InRange(pool.GetStatistics().Created, 1, 4);
        Assert.Equal(800, pool.GetStatistics().Returned);
    }

    [PostgresFact]
    public async Task What_the_provider_uses_again_is_not_reached_by_old_references()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = ResetMode.None },
        });
        PooledDbConnection old = await pool.OpenConnectionAsync();
        DbTransaction oldTransaction = await old.BeginTransactionAsync();
        DbCommand oldCommand = old.CreateCommand();
        oldCommand.CommandText = "SELECT 'old' UNION ALL SELECT 'older'";
        DbDataReader oldReader = await oldCommand.ExecuteReaderAsync();
        Assert.True(await oldReader.ReadAsync());
        await old.CloseAsync();
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        await using DbTransaction transaction = await next.BeginTransactionAsync();
        await using DbCommand command = next.CreateCommand();
        command.CommandText = "SELECT 'new'";
        await using DbDataReader reader = await command.ExecuteReaderAsync();
        Assert.Throws<InvalidOperationException>(() => oldReader.Read());
        await Assert.ThrowsAsync<InvalidOperationException>(() => oldReader.ReadAsync());
        Assert.Throws<InvalidOperationException>(() => oldReader.GetString(0));
        oldReader.Close();
        await oldReader.DisposeAsync();
        Assert.Throws<ObjectDisposedException>(() => oldReader.Read());
        Assert.Throws<ObjectDisposedException>(oldTransaction.Commit);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => oldTransaction.RollbackAsync());
        oldTransaction.Dispose();
        Assert.Throws<InvalidOperationException>(() => oldCommand.ExecuteNonQuery());
        oldCommand.Dispose();
        Assert.True(oldReader.IsClosed);
        Assert.True(await reader.ReadAsync());
        Assert.Equal("new", reader.GetString(0));
        await reader.CloseAsync();
        await transaction.CommitAsync();
    }

    [PostgresFact]
    public async Task An_old_reader_of_the_same_connection_does_not_reach_the_new_one()
    {
        await using PooledDbDataSource pool = server.NewPool();
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT 1";
        DbDataReader old = await command.ExecuteReaderAsync();
        await old.DisposeAsync();
        await using DbDataReader reader = await command.ExecuteReaderAsync();
        Assert.Throws<ObjectDisposedException>(() => old.Read());
        old.Dispose();
        old.Close();
        Assert.True(reader.Read());
        Assert.Equal(1, reader.GetInt32(0));
    }

    [PostgresTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_reader_that_was_closed_leaves_the_next_one_of_its_connection_alone_when_it_is_disposed(bool isAsync)
    {
        await using PooledDbDataSource pool = server.NewPool();
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "CREATE TEMPORARY TABLE changed AS SELECT 1 AS a UNION ALL SELECT 2; UPDATE changed SET a = 3";
        DbDataReader old = await command.ExecuteReaderAsync();
        await old.CloseAsync();
        int affected = old.RecordsAffected;
        Assert.True(affected > 0);
        command.CommandText = "SELECT 1 UNION ALL SELECT 2";
        await using DbDataReader reader = await command.ExecuteReaderAsync();
        Assert.True(await reader.ReadAsync());
        Assert.Equal(affected, old.RecordsAffected);
        if (isAsync)
        {
            await old.DisposeAsync();
        }
        else
        {
            old.Dispose();
        }

        Assert.Equal(affected, old.RecordsAffected);
        Assert.Throws<ObjectDisposedException>(() => old.Read());
        Assert.True(await reader.ReadAsync());
        Assert.Equal(2, reader.GetInt32(0));
    }

    private sealed class Shop(DbContextOptions<Shop> options) : DbContext(options)
    {
        public DbSet<Item> Items => Set<Item>();
    }

    private sealed class Item
    {
        public int Id { get; set; }

        public required string Name { get; set; }
    }
}
