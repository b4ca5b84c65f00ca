using System.Data.Common;
using System.Reflection;
using Microsoft.Data.Sqlite;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>SQLite has no reset: what can be undone is undone, what cannot ends the session.</summary>
public sealed class SqliteSessionTests : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void After_return_a_new_holder_sees_nothing_of_the_one_before()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run("CREATE TABLE kept (a)");
            connection.Run(
                "CREATE TEMP TABLE \"my \"\"scratch\" (a); CREATE TEMP VIEW seen AS SELECT 1; CREATE TEMP TRIGGER t AFTER INSERT ON "
                    + "kept BEGIN DELETE FROM kept; END");
            connection.Run("ATTACH ':memory:' AS other");
            connection.Run("INSERT INTO kept VALUES (1)");
            connection.Run("DELETE FROM kept");
            connection.Run("BEGIN; INSERT INTO kept VALUES (1)");
        }

        using (PooledDbConnection connection = pool.OpenConnection())
        {
            Assert.Equal("0/0", connection.Read<string>("SELECT changes() || '/' || last_insert_rowid()"));
            Assert.Equal(0, connection.Read<int>("SELECT count(*) FROM sqlite_temp_master"));
            Assert.Equal("main", connection.Read<string>("SELECT group_concat(name) FROM pragma_database_list WHERE name <> 'temp'"));
            Assert.Equal(0, connection.Read<int>("SELECT count(*) FROM kept"));
            using var transaction = connection.BeginTransaction();
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Theory]
    [InlineData("PRAGMA foreign_keys = 0", "PRAGMA foreign_keys", 1)]
    [InlineData("PRAGMA query_only = 1", "PRAGMA query_only", 0)]
    [InlineData("PRAGMA cache_size = 7", "PRAGMA cache_size", -2000)]
    [InlineData("PRAGMA case_sensitive_like = 1", "SELECT 'a' LIKE 'A'", 1)]
    [InlineData("PRAGMA journal_mode = OFF", "SELECT journal_mode = 'delete' FROM pragma_journal_mode", 1)]
    [InlineData("PRAGMA max_page_count = 5", "SELECT max_page_count > 5 FROM pragma_max_page_count", 1)]
    [InlineData("PRAGMA journal_size_limit = 5", "PRAGMA journal_size_limit", -1)]
    public void A_setting_that_was_changed_ends_the_session(string change, string question, int initial)
    {
        using PooledDbDataSource pool = new(SqliteFactory.Instance, _file.ConnectionString + ";Foreign Keys=True", new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
        });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run(change);
        }

        using (PooledDbConnection connection = pool.OpenConnection())
        {
            Assert.Equal(initial, connection.Read<int>(question));
        }

        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
    }

    [Fact]
    public void A_function_that_was_added_through_the_providers_connection_ends_the_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (DbConnectionLease lease = pool.RentNative())
        {
            lease.Unwrap<SqliteConnection>().CreateFunction("twice", static (long x) => 2 * x);
            Assert.Equal(4L, lease.Connection.Read<long>("SELECT twice(2)"));
        }

        using (PooledDbConnection connection = pool.OpenConnection())
        {
            Assert.Throws<SqliteException>(() => connection.Read<long>("SELECT twice(2)"));
        }

        Assert.Equal(2, pool.GetStatistics().Created);
    }

    [Fact]
    public void Commands_that_nobody_disposed_do_not_pile_up_on_the_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        for (int i = 0; i < 100; i++)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            var command = connection.CreateCommand();
            command.CommandText = "SELECT 1";
            command.ExecuteScalar();
        }

        using DbConnectionLease lease = pool.RentNative();
        var commands = (System.Collections.ICollection)typeof(SqliteConnection)
            .GetField("_commands", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(lease.Connection)!;
        Assert.InRange(commands.Count, 0, 5);
    }

    [Fact]
    public void A_command_that_was_only_asked_for_its_timeout_does_not_stay_on_the_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using PooledDbConnection connection = pool.OpenConnection();
        using DbCommand command = connection.CreateCommand();
        connection.Close();
        connection.Open();
        Assert.Equal(30, command.CommandTimeout);
        connection.Close();

        using DbConnectionLease lease = pool.RentNative();
        var commands = (System.Collections.ICollection)typeof(SqliteConnection)
            .GetField("_commands", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(lease.Connection)!;
        Assert.Empty(commands);
    }

    [Theory]
    [InlineData("CREATE TEMP TABLE scratch (a INTEGER PRIMARY KEY AUTOINCREMENT)")]
    [InlineData("CREATE TEMP TABLE scratch (a INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE scratch")]
    public void The_numbers_of_temporary_tables_do_not_hide_those_of_the_database(string left)
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run("CREATE TABLE kept (a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO kept VALUES (7)");
            connection.Run(left); // SQLite makes temp.sqlite_sequence for it, which cannot be dropped
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(7, next.Read<int>("SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'kept'"));
    }

    [Fact]
    public void A_reader_that_was_left_open_on_a_lent_connection_ends_the_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        SqliteDataReader left;
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run("CREATE TABLE kept (a); INSERT INTO kept VALUES (1), (2), (3)");
        }

        using (DbConnectionLease lease = pool.RentNative())
        {
            SqliteCommand command = lease.Unwrap<SqliteConnection>().CreateCommand();
            command.CommandText = "SELECT * FROM kept";
            left = command.ExecuteReader();
            Assert.True(left.Read());
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(2, pool.GetStatistics().Created);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_collation_that_was_replaced_through_the_providers_connection_is_not_met_by_the_next_holder(bool isUnwrapped)
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        if (isUnwrapped)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Replace(connection.Unwrap<SqliteConnection>());
        }
        else
        {
            using DbConnectionLease lease = pool.RentNative();
            Replace(lease.Unwrap<SqliteConnection>());
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(1, next.Read<int>("SELECT 'a' = 'A' COLLATE NOCASE"));
        Assert.Equal(2, pool.GetStatistics().Created);

        static void Replace(SqliteConnection native)
        {
            native.CreateCollation("NOCASE", static (_, _) => -1); // by its name it is the same as before
            Assert.Equal(0, native.Read<int>("SELECT 'a' = 'A' COLLATE NOCASE"));
        }
    }

    [Fact]
    public void A_reader_of_constants_that_was_left_open_on_a_lent_connection_ends_the_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        object session;
        using (DbConnectionLease lease = pool.RentNative())
        {
            session = lease.Connection;
            SqliteCommand command = lease.Unwrap<SqliteConnection>().CreateCommand();
            command.CommandText = "SELECT 1 UNION ALL SELECT 2";
            Assert.True(command.ExecuteReader().Read());
        }

        using DbConnectionLease next = pool.RentNative();
        Assert.NotSame(session, next.Connection);
    }

    [Theory]
    [InlineData("stream")]
    [InlineData("text")]
    [InlineData("stream field")]
    [InlineData("text field")]
    public async Task A_column_that_is_still_being_read_is_closed_with_the_use_of_its_session(string kind)
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        IDisposable column;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("CREATE TABLE blobs (id INTEGER PRIMARY KEY, data BLOB); INSERT INTO blobs VALUES (1, x'616263')");
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT id, data FROM blobs";
            await using DbDataReader reader = await command.ExecuteReaderAsync();
            Assert.True(await reader.ReadAsync());
            reader.GetStream(1).Dispose(); // this one leaves nothing
            column = kind switch
            {
                "stream" => reader.GetStream(1),
                "text" => reader.GetTextReader(1),
                "stream field" => await reader.GetFieldValueAsync<Stream>(1),
                _ => reader.GetFieldValue<TextReader>(1),
            };
            Assert.Equal('a', Read(column));
            await reader.DisposeAsync();
            // As the provider's, which reads on after the reader.
            Assert.True(kind.StartsWith("text", StringComparison.Ordinal) || Read(column) == 'b');
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Throws<ObjectDisposedException>(() => Read(column));
        await using DbCommand drop = next.CreateCommand();
        (drop.CommandText, drop.CommandTimeout) = ("DROP TABLE blobs", 1);
        Assert.Equal(0, drop.ExecuteNonQuery()); // a blob that is open locks its table
        Assert.Equal(1, pool.GetStatistics().Created);
        column.Dispose();

        static int Read(IDisposable column) => column is Stream stream ? stream.ReadByte() : ((TextReader)column).Read();
    }

    [Fact]
    public void A_timeout_that_was_set_on_a_lent_connection_ends_with_its_use()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (DbConnectionLease lease = pool.RentNative())
        {
            lease.Unwrap<SqliteConnection>().DefaultTimeout = 7;
        }

        using PooledDbConnection connection = pool.OpenConnection();
        Assert.Equal(30, connection.CreateCommand().CommandTimeout);
    }

    [Fact]
    public void A_command_of_a_closed_connection_does_not_touch_the_session_of_the_next_one()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection old = pool.OpenConnection();
        DbCommand command = old.CreateCommand();
        command.CommandText = "SELECT 1";
        command.ExecuteScalar();
        old.Close();
        using DbConnectionLease lease = pool.RentNative();
        var native =
            (SqliteCommand)command.GetType().GetField("_native", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(command)!;
        Assert.NotSame(lease.Connection, native.Connection); // its disposal would change the list of that connection's commands
        command.Dispose();
    }

    [Fact]
    public void A_clean_session_is_used_again()
    {
        using PooledDbDataSource pool = _file.NewPool();
        for (int i = 0; i < 10; i++)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }
}
