using System.Data;
using System.Data.Common;
using System.Reflection;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What programs do wrong with connections of a real server, and what it may not do to other users of the pool.</summary>
[Collection(PostgresServer.Collection)]
public sealed class MisuseTests(PostgresServer server)
{
    [PostgresFact]
    public async Task A_connection_that_is_opened_while_it_still_closes_shares_its_session_with_nobody()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 } });
        await pool.WarmUpAsync(2);
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await connection.BeginTransactionAsync();
        Task closing = connection.CloseAsync(); // has a transaction to roll back
        try
        {
            await connection.OpenAsync();
        }
        catch (InvalidOperationException)
        {
            // Refused, because it still closes.
        }

        await closing;
        pool.Settle();
        bool isOpen = connection.State == ConnectionState.Open;
        Assert.Equal(isOpen ? 1 : 0, pool.GetStatistics().Leased);
        await using PooledDbConnection second = await pool.OpenConnectionAsync();
        await using PooledDbConnection third = await pool.OpenConnectionAsync();
        int[] processes =
        [
            .. from open in new[] { connection, second, third }
               where open.State == ConnectionState.Open
               select open.Read<int>("SELECT pg_backend_pid()"),
        ];
        Assert.Equal(processes.Length, processes.Distinct().Count());
    }

    [PostgresFact]
    public async Task A_connection_disposed_in_the_middle_of_a_statement_ends_its_own_session_only()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 } });
        await pool.WarmUpAsync(3);
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT pg_sleep(60)";
        command.CommandTimeout = 2; // the provider goes on reading from a connection that was closed
        Task<object?> work = command.ExecuteScalarAsync();
        await connection.DisposeAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => work);
        pool.Settle();
        Assert.Equal(0, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared));
        Assert.Equal(2, pool.GetStatistics().Total);
    }

    [PostgresTheory]
    [InlineData("08006")]
    [InlineData("08001")]
    public async Task An_error_that_a_function_raises_with_a_code_of_the_connection_does_not_end_the_other_sessions(string state)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 } });
        await pool.WarmUpAsync(3);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            PostgresException error = Assert.Throws<PostgresException>(
                () => connection.Run($"DO $$ BEGIN RAISE EXCEPTION 'of a foreign server' USING ERRCODE = '{state}'; END $$"));
            Assert.Equal(state, error.SqlState);
        }

        pool.Settle();
        Assert.Equal(0, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared));
    }

    [PostgresFact]
    public async Task A_stream_of_a_closed_connection_does_not_read_what_the_next_one_reads()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        Stream old;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 'mine'::bytea";
            await using DbDataReader reader = await command.ExecuteReaderAsync();
            Assert.True(await reader.ReadAsync());
            old = reader.GetStream(0);
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        await using DbCommand secret = next.CreateCommand();
        secret.CommandText = "SELECT 'secret'::bytea";
        await using DbDataReader read = await secret.ExecuteReaderAsync();
        Assert.True(await read.ReadAsync());
        await using Stream stream = read.GetStream(0);
        Assert.Throws<ObjectDisposedException>(() => old.ReadByte());
        Assert.Equal((byte)'s', stream.ReadByte());
    }

    [PostgresTheory]
    [InlineData("stream")]
    [InlineData("text")]
    [InlineData("stream field")]
    [InlineData("text field")]
    public async Task A_column_that_was_being_read_on_a_closed_connection_does_not_read_what_the_next_one_reads(string kind)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = ResetMode.None },
        });
        IDisposable old;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            old = await OpenAsync(connection, "mine");
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        IDisposable column = await OpenAsync(next, "secret");
        Assert.Throws<ObjectDisposedException>(() => Read(old));
        old.Dispose();
        Assert.Equal('s', Read(column));

        async Task<IDisposable> OpenAsync(PooledDbConnection connection, string value)
        {
            DbCommand command = connection.CreateCommand();
            command.CommandText =
                $"SELECT repeat('{value}', 10000)::{(kind.StartsWith("text", StringComparison.Ordinal) ? "text" : "bytea")}";
            DbDataReader reader = await command.ExecuteReaderAsync(CommandBehavior.SequentialAccess);
            Assert.True(await reader.ReadAsync());
            return kind switch
            {
                "stream" => reader.GetStream(0),
                "text" => reader.GetTextReader(0),
                "stream field" => await reader.GetFieldValueAsync<Stream>(0),
                _ => reader.GetFieldValue<TextReader>(0),
            };
        }

        static int Read(IDisposable column) => column is Stream stream ? stream.ReadByte() : ((TextReader)column).Read();
    }

    [PostgresFact]
    public async Task A_reader_that_was_closed_and_not_disposed_does_not_read_what_the_next_one_reads()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = ResetMode.None },
        });
        DbDataReader old;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 'mine'";
            old = await command.ExecuteReaderAsync();
            await old.CloseAsync();
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        await using DbCommand secret = next.CreateCommand();
        secret.CommandText = "SELECT 'secret'";
        await using DbDataReader reader = await secret.ExecuteReaderAsync();
        Assert.True(await reader.ReadAsync());
        Assert.Throws<InvalidOperationException>(() => old.GetString(0));
        Assert.Throws<InvalidOperationException>(() => old.Read());
        Assert.Equal("secret", reader.GetString(0));
    }

    [PostgresFact]
    public async Task A_timeout_of_a_provider_that_does_not_ask_the_server_ends_its_own_session_only()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 3 },
        }, ";Cancellation Timeout=-1");
        await pool.WarmUpAsync(3);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            (command.CommandText, command.CommandTimeout) = ("SELECT pg_sleep(60)", 1);
            DbException timeout = await Assert.ThrowsAnyAsync<DbException>(() => command.ExecuteNonQueryAsync());
            Assert.IsType<TimeoutException>(timeout.InnerException);
            Assert.Equal(ConnectionState.Closed, connection.State); // the provider has given it up
        }

        pool.Settle();
        Assert.Equal(
            (0L, 1L),
            (pool.GetStatistics().GetDestroyed(DestroyReason.Cleared), pool.GetStatistics().GetDestroyed(DestroyReason.Broken)));
    }

    [PostgresTheory]
    [InlineData("BEGIN READ ONLY")]
    [InlineData("SET default_transaction_read_only = on")]
    public async Task A_write_in_a_transaction_that_its_renter_wanted_to_read_only_ends_no_session(string wish)
    {
        await server.Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (a int)");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 } });
        await pool.WarmUpAsync(3);
        for (int i = 0; i < 3; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            connection.Run(wish);
            Assert.Equal("25006", Assert.ThrowsAny<DbException>(() => connection.Run("INSERT INTO written VALUES (1)")).SqlState);
        }

        pool.Settle();
        Assert.Equal((3L, 3), (pool.GetStatistics().Created, pool.GetStatistics().Idle));
    }

    [PostgresFact]
    public async Task A_listener_that_throws_over_a_failed_read_leaves_the_connection_as_it_was()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        StateChangeEventHandler listener = static (_, _) => throw new InvalidOperationException("listener");
        connection.StateChange += listener;
        await using (DbCommand command = connection.CreateCommand())
        {
            command.CommandText = "DO $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END $$";
            Assert.ThrowsAny<Exception>(() => command.ExecuteReader(CommandBehavior.CloseConnection));
        }

        connection.StateChange -= listener;
        Assert.Equal(
            0,
            typeof(PooledDbConnection).GetField("_running", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(connection));
        Assert.Equal(ConnectionState.Closed, connection.State);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }
}
