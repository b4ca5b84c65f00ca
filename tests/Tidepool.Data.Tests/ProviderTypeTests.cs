using System.Data.Common;
using Dapper;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Migrations;
using Npgsql;
using Samples;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Where code asks for the provider's own types: what works, what does not, and the documented way.</summary>
[Collection(PostgresServer.Collection)]
public sealed class ProviderTypeTests(PostgresServer server)
{
    private const int Sessions = 3;

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task After_a_reload_of_types_every_rental_sees_the_new_type(bool isLease)
    {
        Assert.True(PostgresAdapter.SeesTypes);
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = Sessions } });
        await pool.WarmUpAsync(Sessions);
        string type = $"mood{Guid.NewGuid():N}";
        if (isLease)
        {
            using DbConnectionLease lease = pool.RentNative();
            lease.Connection.Run($"CREATE TYPE {type} AS ENUM ('happy')");
            lease.Unwrap<NpgsqlConnection>().ReloadTypes();
        }
        else
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            connection.Run($"CREATE TYPE {type} AS ENUM ('happy')");
            await connection.Unwrap<NpgsqlConnection>().ReloadTypesAsync();
        }

        await AssertEveryRentalSeesAsync(pool, type);
        Assert.Equal(2 * Sessions, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task After_a_migration_of_Entity_Framework_every_rental_sees_its_type()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = Sessions } });
        await pool.WarmUpAsync(Sessions);
        using (DbConnectionLease lease = pool.RentNative())
        {
            await using var context = new Migrated(new DbContextOptionsBuilder<Migrated>().UseNpgsql(lease.Connection).Options);
            await context.Database.MigrateAsync();
        }

        await AssertEveryRentalSeesAsync(pool, AddMood.Type);
    }

    [PostgresFact]
    public async Task A_session_in_use_during_a_reload_ends_when_it_comes_back()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        PooledDbConnection old = await pool.OpenConnectionAsync();
        int process = old.Read<int>("SELECT pg_backend_pid()");
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await connection.Unwrap<NpgsqlConnection>().ReloadTypesAsync();
        }

        Assert.Equal(process, old.Read<int>("SELECT pg_backend_pid()"));
        await old.DisposeAsync();
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.NotEqual(process, next.Read<int>("SELECT pg_backend_pid()"));
    }

    [PostgresFact]
    public async Task A_lent_connection_whose_types_were_not_reloaded_renews_nothing()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        for (int i = 0; i < 3; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            Assert.Equal(connection.Read<int>("SELECT pg_backend_pid()"), connection.Unwrap<NpgsqlConnection>().ProcessID);
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_handler_added_by_unwrap_stays_on_the_session_unless_it_ends(bool ends)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            DestroySessionAfterUnwrap = ends,
        });
        int calls = 0;
        await using (PooledDbConnection first = await pool.OpenConnectionAsync())
        {
            first.Unwrap<NpgsqlConnection>().Notification += (_, _) => calls++;
            first.Run("LISTEN news");
        }

        pool.Settle();
        await using (PooledDbConnection second = await pool.OpenConnectionAsync())
        {
            second.Run("NOTIFY news");
            second.Run("SELECT 1");
            Assert.Equal(0, calls); // what the first one listened to is gone either way
            second.Run("LISTEN news");
            second.Run("NOTIFY news");
            second.Run("SELECT 1");
        }

        Assert.Equal((ends ? 0 : 1, ends ? 2 : 1), (calls, pool.GetStatistics().Created));
    }

    [PostgresFact]
    public async Task Dapper_takes_arrays_by_the_type_handler_of_the_page()
    {
        SqlMapper.AddTypeHandler(new DapperArray<int>());
        SqlMapper.AddTypeHandler(new DapperArray<string>());
        SqlMapper.AddTypeHandler(new DapperList<int>());
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        connection.Run(
            "CREATE TEMPORARY TABLE many (x int); INSERT INTO many VALUES (1), (2), (3); CREATE TEMPORARY TABLE whole (a int[])");

        const string query = "SELECT x FROM many WHERE x = ANY(@ids) ORDER BY x";
        Assert.Equal([1, 3], await connection.QueryAsync<int>(query, new { ids = new[] { 1, 3 } }));
        Assert.Empty(await connection.QueryAsync<int>(query, new { ids = Array.Empty<int>() }));
        Assert.Equal([1, 3], await connection.QueryAsync<int>(query, new { ids = new List<int> { 1, 3 } }));
        List<int> list = await connection.QuerySingleAsync<List<int>>("SELECT ARRAY[4, 5]");
        Assert.Equal([4, 5], list);
        Assert.Equal(1, await connection.ExecuteAsync("INSERT INTO whole VALUES (@a)", new { a = new[] { 1, 2 } }));
        int[] whole = await connection.QuerySingleAsync<int[]>("SELECT a FROM whole");
        Assert.Equal([1, 2], whole);
        Assert.Equal(
            2,
            await connection.ExecuteScalarAsync<int>("SELECT count(*) FROM "
                + "unnest(@a::int[], @b::text[])", new { a = new[] { 1, 2 }, b = new[] { "x", "y" } }));
    }

    [PostgresFact]
    public async Task Dapper_without_the_handler_expands_arrays_and_over_the_providers_connection_it_does_not()
    {
        const string query = "SELECT x FROM (VALUES (1::bigint), (2), (3)) AS many (x) WHERE x = ANY(@ids) ORDER BY x";
        var ids = new { ids = new long[] { 1, 3 } };
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();

        Assert.Equal("42809", (await Assert.ThrowsAsync<PostgresException>(() => connection.QueryAsync<long>(query, ids))).SqlState);
        Assert.Equal([1, 3], await connection.Unwrap<NpgsqlConnection>().QueryAsync<long>(query, ids));

        // IN needs an expanded list; here the provider's own connection refuses it.
        const string within = "SELECT x FROM (VALUES (1::bigint), (2), (3)) AS many (x) WHERE x IN @ids ORDER BY x";
        Assert.Equal([1, 3], await connection.QueryAsync<long>(within, ids));
        DbConnection native = connection.Unwrap<NpgsqlConnection>();
        Assert.Equal("42601", (await Assert.ThrowsAsync<PostgresException>(() => native.QueryAsync<long>(within, ids))).SqlState);
    }

    [PostgresFact]
    public async Task Entity_Framework_over_the_data_source_itself_reads_and_cannot_save()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        await using var shop = new Shop(new DbContextOptionsBuilder<Shop>().UseNpgsql(pool).Options);
        await shop.Database.ExecuteSqlRawAsync(
            "DROP TABLE IF EXISTS \"Trapped\"; CREATE TABLE \"Trapped\" (\"Id\" serial PRIMARY KEY, \"Name\" text NOT NULL)");
        Assert.Equal(0, await shop.Trapped.CountAsync());
        shop.Trapped.Add(new Item { Name = "tea" });

        DbUpdateException error = await Assert.ThrowsAsync<DbUpdateException>(() => shop.SaveChangesAsync());

        Assert.IsType<InvalidCastException>(error.GetBaseException());
    }

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_failed_opening_carries_what_the_server_said(bool isSync)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } }, ";Database=missing");
        PooledDbException error = isSync
            ? Assert.Throws<PooledDbException>(pool.OpenConnection)
            : await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        PostgresException said = Assert.IsType<PostgresException>(error.GetBaseException());
        Assert.Equal(("3D000", said.ErrorCode, said.IsTransient), (error.SqlState, error.ErrorCode, error.IsTransient));
        Assert.Same(error.PoolError, error.InnerException);
        Assert.Contains(said.MessageText, error.Message, StringComparison.Ordinal);
    }

    private static async Task AssertEveryRentalSeesAsync(PooledDbDataSource pool, string type)
    {
        for (int round = 0; round < 2; round++)
        {
            PooledDbConnection[] all = await Task.WhenAll(Enumerable.Range(0, Sessions).Select(_ => pool.OpenConnectionAsync().AsTask()));
            foreach (PooledDbConnection connection in all)
            {
                await using DbCommand command = connection.CreateCommand();
                command.CommandText = "SELECT $1::text";
                command.Parameters.Add(new NpgsqlParameter { Value = "happy", DataTypeName = type });
                Assert.Equal("happy", await command.ExecuteScalarAsync());
                await connection.DisposeAsync();
            }
        }
    }

    private sealed class Shop(DbContextOptions<Shop> options) : DbContext(options)
    {
        public DbSet<Item> Trapped => Set<Item>();
    }

    private sealed class Item
    {
        public int Id { get; set; }

        public required string Name { get; set; }
    }

    private sealed class Migrated(DbContextOptions<Migrated> options) : DbContext(options);

    [DbContext(typeof(Migrated))]
    [Migration("1_AddMood")]
    private sealed class AddMood : Migration
    {
        public const string Type = "migrated_mood";

        protected override void Up(MigrationBuilder migrationBuilder) =>
            migrationBuilder.AlterDatabase().Annotation($"Npgsql:Enum:{Type}", "happy,sad");
    }
}
