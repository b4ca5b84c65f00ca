using System.Data;
using System.Data.Common;
using Microsoft.Data.Sqlite;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Opening, closing, and what is left of a connection that was closed.</summary>
public sealed class ConnectionLifeTests : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public async Task One_connection_object_may_be_opened_and_closed_again_and_again()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection connection = pool.CreateConnection();
        for (int i = 0; i < 100; i++)
        {
            if (i % 2 == 0)
            {
                await connection.OpenAsync();
            }
            else
            {
                connection.Open();
            }

            Assert.Equal(ConnectionState.Open, connection.State);
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
            if (i % 3 == 0)
            {
                await connection.CloseAsync();
            }

            connection.Close();
            connection.Close();
            Assert.Equal(ConnectionState.Closed, connection.State);
        }

        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(
            (1L, 100L, 100L, 0L, 0),
            (statistics.Created, statistics.Rented, statistics.Returned, statistics.StaleDisposes, statistics.Leased));
        pool.Validate();
    }

    [Fact]
    public void Use_after_close_says_what_the_provider_says()
    {
        using PooledDbDataSource pool = _file.NewPool();
        using SqliteConnection bare = _file.OpenBare();
        PooledDbConnection pooled = pool.OpenConnection();
        DbCommand bareCommand = bare.CreateCommand();
        DbCommand pooledCommand = pooled.CreateCommand();
        bareCommand.CommandText = pooledCommand.CommandText = "SELECT 1";
        bare.Close();
        pooled.Close();
        Same(() => bareCommand.ExecuteScalar(), () => pooledCommand.ExecuteScalar());
        Same(() => bare.BeginTransaction(), () => pooled.BeginTransaction());
        Same(() => bare.ChangeDatabase("x"), () => pooled.ChangeDatabase("x"));
        bare.Dispose();
        pooled.Dispose();
        Same(() => bareCommand.ExecuteScalar(), () => pooledCommand.ExecuteScalar());
        pooled.Open(); // as the provider's
        bare.Open();
        Assert.Equal(bareCommand.ExecuteScalar(), pooledCommand.ExecuteScalar());
        pooled.Close();
    }

    [Fact]
    public void A_closed_connection_and_all_that_it_made_do_not_reach_the_session_of_the_next_one()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection old = pool.OpenConnection();
        old.Run("CREATE TABLE t (a)");
        DbTransaction transaction = old.BeginTransaction();
        DbCommand command = old.CreateCommand();
        command.CommandText = "INSERT INTO t VALUES (1)";
        command.ExecuteNonQuery();
        command.CommandText = "SELECT a FROM t";
        DbDataReader reader = command.ExecuteReader();
        old.Close();
        using PooledDbConnection next = pool.OpenConnection();
        using DbTransaction held = next.BeginTransaction();
        next.Run("INSERT INTO t VALUES (2)");
        Assert.Throws<InvalidOperationException>(() => reader.Read());
        Assert.Throws<InvalidOperationException>(() => command.ExecuteNonQuery());
        Assert.Throws<InvalidOperationException>(transaction.Commit);
        Assert.Throws<InvalidOperationException>(() => transaction.Rollback());
        transaction.Dispose();
        reader.Dispose();
        command.Cancel();
        command.Dispose();
        old.Dispose();
        held.Commit();
        Assert.Equal(2, next.Read<int>("SELECT sum(a) FROM t"));
    }

    [Fact]
    public async Task A_transaction_that_was_left_open_is_rolled_back()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = ResetMode.None },
        });
        foreach (bool isAsync in new[] { false, true })
        {
            PooledDbConnection connection = pool.OpenConnection();
            connection.Run("CREATE TABLE IF NOT EXISTS t (a)");
            connection.BeginTransaction();
            connection.Run("INSERT INTO t VALUES (1)");
            if (isAsync)
            {
                await connection.DisposeAsync();
            }
            else
            {
                connection.Dispose();
            }

            using PooledDbConnection next = pool.OpenConnection();
            Assert.Equal(0, next.Read<int>("SELECT count(*) FROM t"));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public void A_reader_that_closes_its_connection_gives_the_session_back()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection connection = pool.OpenConnection();
        using (DbCommand command = connection.CreateCommand())
        {
            command.CommandText = "SELECT 1";
            using DbDataReader reader = command.ExecuteReader(CommandBehavior.CloseConnection);
            Assert.True(reader.Read());
        }

        Assert.Equal(ConnectionState.Closed, connection.State);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void State_changes_are_told_and_a_listener_that_throws_loses_no_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1, RentTimeout = TimeSpan.Zero } });
        PooledDbConnection connection = pool.CreateConnection();
        List<string> told = [];
        connection.StateChange += (_, e) => told.Add($"{e.OriginalState}>{e.CurrentState}");
        PooledDbConnection warm = pool.CreateConnection();
        pool.WarmUpAsync(1).Wait();
        connection.Open();
        connection.Close();
        connection.Dispose();
        Assert.Equal(["Closed>Open", "Open>Closed"], told);
        connection.StateChange += (_, _) => throw new InvalidOperationException("mine");
        Assert.Equal("mine", Assert.Throws<InvalidOperationException>(connection.Open).Message);
        Assert.Equal(ConnectionState.Open, connection.State);
        Assert.Equal("mine", Assert.Throws<InvalidOperationException>(connection.Close).Message);
        Assert.Equal(ConnectionState.Closed, connection.State);
        warm.Open();
        warm.Close();
        Assert.Equal(5, told.Count + 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_listener_that_throws_in_a_disposal_leaves_a_connection_that_is_disposed(bool isAsync)
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection connection = pool.OpenConnection();
        int disposed = 0;
        connection.Disposed += (_, _) => disposed++;
        connection.StateChange += static (_, _) => throw new InvalidOperationException("mine");
        if (isAsync)
        {
            ValueTask disposal = connection.DisposeAsync(); // does not throw by itself
            Assert.Equal("mine", (await Assert.ThrowsAsync<InvalidOperationException>(async () => await disposal)).Message);
        }
        else
        {
            Assert.Equal("mine", Assert.Throws<InvalidOperationException>(connection.Dispose).Message);
        }

        Assert.Equal((1, 0, ConnectionState.Closed), (disposed, pool.GetStatistics().Leased, connection.State));
        await connection.DisposeAsync();
        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(1, next.Read<int>("SELECT 1"));
    }

    [Fact]
    public async Task Closing_from_another_thread_in_the_middle_of_work_ends_the_session_instead_of_sharing_it()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection connection = pool.OpenConnection();
        using var inside = new ManualResetEventSlim();
        using var go = new ManualResetEventSlim();
        SqliteConnection native = connection.Unwrap<SqliteConnection>();
        native.CreateFunction("hold", () =>
        {
            inside.Set();
            go.Wait(Sql.Limit);
            return 1;
        });
        Task<object?> work = Task.Run(() =>
        {
            using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT hold()";
            return command.ExecuteScalar();
        });
        Assert.True(inside.Wait(Sql.Limit));
        Task close = Task.Run(connection.Close);
        Sql.Until(() => pool.GetStatistics().GetDestroyed(DestroyReason.Broken) == 1, "the session to be given up");
        go.Set();
        await Task.WhenAny(work).WaitAsync(Sql.Limit);
        await close.WaitAsync(Sql.Limit);
        pool.Settle();
        using PooledDbConnection next = pool.OpenConnection();
        Assert.NotSame(native, next.Unwrap<SqliteConnection>());
    }

    [Fact]
    public async Task Cancelled_and_refused_openings_leave_the_connection_closed_and_the_pool_whole()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection held = pool.OpenConnection();
        PooledDbConnection waiting = pool.CreateConnection();
        using var cancellation = new CancellationTokenSource();
        Task open = waiting.OpenAsync(cancellation.Token);
        Assert.Equal(ConnectionState.Connecting, waiting.State);
        Assert.Throws<InvalidOperationException>(waiting.Open); // it is being opened
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => open);
        Assert.Equal(ConnectionState.Closed, waiting.State);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.OpenAsync(cancellation.Token));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await pool.OpenConnectionAsync(cancellation.Token));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await pool.RentNativeAsync(cancellation.Token));
        open = waiting.OpenAsync();
        waiting.Dispose(); // while it is being opened
        held.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => open.WaitAsync(Sql.Limit));
        pool.Settle();
        Assert.Equal(0, pool.GetStatistics().Leased);
        pool.Validate();
    }

    [Fact]
    public void Copies_of_a_native_lease_return_it_once()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        DbConnectionLease lease = pool.RentNative();
        DbConnectionLease copy = lease;
        Assert.True(lease == copy && lease.IsActive);
        lease.Dispose();
        Assert.Throws<ObjectDisposedException>(() => copy.Connection);
        using DbConnectionLease next = pool.RentNative();
        copy.Dispose();
        Assert.True(next.IsActive);
        Assert.Equal(ConnectionState.Open, next.Connection.State);
    }

    [Fact]
    public void A_connection_that_was_dropped_gives_its_place_back_where_leaks_are_reclaimed()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1, ReclaimLeaks = true } });
        Drop(pool);
        Sql.Until(
            () =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                return pool.GetStatistics() is { Reclaimed: 1, Destroying: 0 };
            },
            "the dropped connection to be found");
        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(2, pool.GetStatistics().Created);

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static void Drop(PooledDbDataSource pool) => pool.OpenConnection().Run("SELECT 1");
    }

    [Fact]
    public void A_native_connection_that_its_renter_closed_is_not_rented_again()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (DbConnectionLease lease = pool.RentNative())
        {
            lease.Connection.Close();
        }

        using (PooledDbConnection connection = pool.OpenConnection())
        {
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
        }

        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
    }

    private static void Same(Action bare, Action pooled)
    {
        Exception? expected = Record.Exception(bare);
        Exception? actual = Record.Exception(pooled);
        Assert.NotNull(expected);
        Assert.Equal((expected.GetType(), expected.Message), (actual?.GetType(), actual?.Message));
    }
}
