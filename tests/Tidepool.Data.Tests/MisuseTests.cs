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
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { MaxSize = 3 });
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
        int[] processes = [.. new[] { connection, second, third }.Where(static c => c.State == ConnectionState.Open).Select(static c => c.Read<int>("SELECT pg_backend_pid()"))];
        Assert.Equal(processes.Length, processes.Distinct().Count());
    }

    [PostgresFact]
    public async Task A_connection_disposed_in_the_middle_of_a_statement_ends_its_own_session_only()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { MaxSize = 3 });
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
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { MaxSize = 3 });
        await pool.WarmUpAsync(3);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            PostgresException error = Assert.Throws<PostgresException>(() => connection.Run($"DO $$ BEGIN RAISE EXCEPTION 'of a foreign server' USING ERRCODE = '{state}'; END $$"));
            Assert.Equal(state, error.SqlState);
        }

        pool.Settle();
        Assert.Equal(0, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared));
    }

    [PostgresFact]
    public async Task A_stream_of_a_closed_connection_does_not_read_what_the_next_one_reads()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { MaxSize = 1 });
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

    [PostgresFact]
    public async Task A_listener_that_throws_over_a_failed_read_leaves_the_connection_as_it_was()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { MaxSize = 2 });
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        StateChangeEventHandler listener = static (_, _) => throw new InvalidOperationException("listener");
        connection.StateChange += listener;
        await using (DbCommand command = connection.CreateCommand())
        {
            command.CommandText = "DO $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END $$";
            Assert.ThrowsAny<Exception>(() => command.ExecuteReader(CommandBehavior.CloseConnection));
        }

        connection.StateChange -= listener;
        Assert.Equal(0, typeof(PooledDbConnection).GetField("_running", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(connection));
        Assert.Equal(ConnectionState.Closed, connection.State);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }
}
