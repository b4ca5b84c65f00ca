using System.Data.Common;
using Microsoft.Data.Sqlite;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Adapters: the one for any database, and those that a program derives.</summary>
public sealed class AdapterTests : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public async Task The_general_adapter_asks_and_rolls_back_and_resets_nothing_else()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ValidateAfterIdle = TimeSpan.Zero },
            Adapter = DbAdapter.Generic,
        });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run("CREATE TABLE kept (a); CREATE TEMP TABLE scratch (a)");
            connection.BeginTransaction();
            connection.Run("INSERT INTO kept VALUES (1)");
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(0, next.Read<int>("SELECT count(*) FROM kept"));
        Assert.Equal(0, next.Read<int>("SELECT count(*) FROM scratch"));
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public void The_general_adapter_rolls_back_what_was_left_on_a_lent_connection()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 }, Adapter = DbAdapter.Generic });
        using (DbConnectionLease lease = pool.RentNative())
        {
            lease.Connection.Run("CREATE TABLE kept (a)");
            lease.Connection.BeginTransaction();
            using var command = lease.Connection.CreateCommand(); // of that transaction
            command.CommandText = "INSERT INTO kept VALUES (1)";
            command.ExecuteNonQuery();
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(0, next.Read<int>("SELECT count(*) FROM kept"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_derived_adapter_is_asked_at_each_step(bool isSync)
    {
        var adapter = new Recorder();
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ValidateAfterIdle = TimeSpan.Zero, ResetMode = ResetMode.OnReturn },
            Adapter = adapter,
        });
        for (int i = 0; i < 2; i++)
        {
            if (isSync)
            {
                pool.OpenConnection().Dispose();
            }
            else
            {
                await (await pool.OpenConnectionAsync()).DisposeAsync();
            }
        }

        using (DbConnectionLease lease = pool.RentNative())
        {
            Assert.True(lease.IsActive);
        }

        string step = isSync ? "here" : "async";
        Assert.Equal(["remember", $"reset {step}", $"validate {step}", $"reset {step}"], adapter.Told.Take(4));
        Assert.Equal("reset here lent", adapter.Told[^1]);
    }

    [Theory]
    [InlineData(DbErrorKind.Statement, 3)]
    [InlineData(DbErrorKind.Session, 2)]
    [InlineData(DbErrorKind.Credentials, 2)]
    [InlineData(DbErrorKind.Server, 0)]
    [InlineData(DbErrorKind.ReadOnlyServer, 0)]
    public async Task What_an_error_means_decides_which_sessions_survive(DbErrorKind kind, int survivors)
    {
        var adapter = new Recorder { Kind = kind };
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 }, Adapter = adapter });
        await pool.WarmUpAsync(3);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            SqliteException error = Assert.Throws<SqliteException>(() => connection.Run("SELEC 1"));
            Assert.Same(error, adapter.Seen);
        }

        pool.Settle();
        Assert.Equal(survivors, pool.GetStatistics().Total);
        pool.Validate();
    }

    /// <summary>Nothing is known of this adapter's rows, so that a value may come from the server.</summary>
    [Fact]
    public void An_error_of_a_value_ends_what_it_says()
    {
        var adapter = new Recorder { Kind = DbErrorKind.Session };
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 }, Adapter = adapter });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT NULL";
            using DbDataReader reader = command.ExecuteReader();
            Assert.True(reader.Read());
            Assert.Same(Record.Exception(() => reader.GetInt32(0)), adapter.Seen);
            Assert.NotNull(adapter.Seen);
        }

        pool.Settle();
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
    }

    [Fact]
    public async Task A_late_error_of_a_session_ends_none_that_were_opened_after_the_pool_was_cleared()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 3 },
            Adapter = new Recorder { Kind = DbErrorKind.Server },
        });
        PooledDbConnection old = await pool.OpenConnectionAsync();
        await pool.ClearAsync();
        await (await pool.OpenConnectionAsync()).DisposeAsync();
        Assert.Throws<SqliteException>(() => old.Run("SELEC 1"));
        await old.DisposeAsync();
        pool.Settle();
        Assert.Equal((1, 1L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Transactions_that_a_provider_has_at_the_same_time_live_and_end_each_by_itself(bool isSync)
    {
        var provider = new ParallelProvider();
        await using var pool = new PooledDbDataSource(provider, "Server=nowhere", new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        DbTransaction first = await connection.BeginTransactionAsync();
        DbTransaction second = await connection.BeginTransactionAsync();
        DbTransaction third = await connection.BeginTransactionAsync();
        await first.CommitAsync();
        await connection.BeginTransactionAsync();
        await second.RollbackAsync();
        Assert.Throws<ObjectDisposedException>(first.Commit); // it was cut when a later one began
        if (isSync)
        {
            connection.Close();
        }
        else
        {
            await connection.CloseAsync();
        }

        Assert.Throws<ObjectDisposedException>(third.Commit);
        Assert.Equal(["commit 1", "roll back 2", "roll back 4", "roll back 3"], provider.Told);
    }

    [Fact]
    public async Task An_adapter_that_throws_when_it_is_asked_ends_the_session_and_hides_no_error()
    {
        var adapter = new Recorder { Fault = new InvalidOperationException("mine") };
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 }, Adapter = adapter });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            Assert.Throws<SqliteException>(() => connection.Run("SELEC 1"));
        }

        pool.Settle();
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
    }

    [Fact]
    public async Task A_reset_that_fails_or_says_no_ends_the_session()
    {
        var adapter = new Recorder { Resets = false };
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 }, Adapter = adapter });
        await (await pool.OpenConnectionAsync()).DisposeAsync();
        adapter.ResetFault = new InvalidOperationException("mine");
        await (await pool.OpenConnectionAsync()).DisposeAsync();
        pool.Settle();
        Assert.Equal(2, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
    }

    [Fact]
    public async Task A_caller_that_blocks_does_not_wait_for_longer_than_it_may_for_the_reset_of_a_new_session()
    {
        var adapter = new LateResets();
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, RentTimeout = TimeSpan.FromMilliseconds(500) },
            InitializeSession = static native => native.Run("PRAGMA query_only = 0"),
            Adapter = adapter,
        });
        Task<PooledDbConnection> opening = Task.Run(pool.OpenConnection);
        try
        {
            PooledDbException failure = await Assert.ThrowsAsync<PooledDbException>(() => opening.WaitAsync(Sql.Limit));
            Assert.IsType<ResourcePoolTimeoutException>(failure.PoolError);
        }
        finally
        {
            adapter.Answer.SetResult(true); // a caller that still waits goes on, and the pool can be disposed of
        }

        pool.Settle(); // the session is there: the next caller has no longer to wait than the first
        (await Task.Run(pool.OpenConnection)).Dispose();
        Assert.Equal((1L, 0L), (pool.GetStatistics().Created, pool.GetStatistics().CreateFailures));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_lent_connection_that_was_closed_ends_its_session_also_when_it_is_open_again(bool isSync)
    {
        await using PooledDbDataSource pool =
            _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 }, Adapter = DbAdapter.Generic });
        using (DbConnectionLease lease = pool.RentNative())
        {
            if (isSync)
            {
                lease.Connection.Close();
                lease.Connection.Open();
            }
            else
            {
                await lease.Connection.CloseAsync();
                await lease.Connection.OpenAsync();
            }
        }

        pool.Settle();
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
        using (pool.RentNative())
        {
            // It stays open, and its session stays.
        }

        pool.Settle();
        Assert.Equal((1, 1L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_question_for_a_pooler_is_asked_again_after_it_failed_and_not_after_an_answer(bool isSync)
    {
        using var told = new Told();
        var adapter = new Recorder { PoolerFault = new InvalidOperationException("mine") };
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 }, Adapter = adapter });
        await Assert.ThrowsAsync<PooledDbException>(Open);
        adapter.PoolerFault = null;
        await pool.ClearAsync(); // ends the pause after the failure
        await using (await Open())
        {
            await using PooledDbConnection second = await Open();
        }

        Assert.Equal(2, adapter.Questions);
        Assert.Equal("a pooler", Assert.Single(told.Of("PoolerFound", pool.Name)));

        async Task<PooledDbConnection> Open() => isSync ? await Task.Run(pool.OpenConnection) : await pool.OpenConnectionAsync();
    }

    [Fact]
    public void The_log_names_a_pooler_that_was_found_and_its_failure_is_its_own()
    {
        var log = new StringWriter();
        PoolDiagnostics.ReportPooler("orders", "a pooler", log);
        Assert.Equal($"Tidepool: orders: a pooler{Environment.NewLine}", log.ToString());
        log.Dispose();
        PoolDiagnostics.ReportPooler("orders", "a pooler", log);
    }

    [Fact]
    public async Task A_provider_that_joins_ambient_transactions_is_refused_inside_of_one_also_with_a_derived_adapter()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Adapter = new Recorder() });
        using var scope = new System.Transactions.TransactionScope();
        Assert.Throws<InvalidOperationException>(pool.OpenConnection);
    }

    /// <summary>Resets asynchronously only, and late.</summary>
    private sealed class LateResets : DbAdapter
    {
        internal TaskCompletionSource<bool> Answer { get; } = new();

        internal override bool ResetsInline => false;

        public override bool JoinsAmbientTransactions => false;

        public override async ValueTask<bool> ResetAsync(
            DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) => await Answer.Task;

        public override bool Reset(DbConnection connection, DbSessionInfo session) => throw new NotSupportedException();
    }

    private sealed class Recorder : DbAdapter
    {
        internal List<string> Told { get; } = [];

        internal Exception? Seen { get; private set; }

        internal DbErrorKind Kind { get; init; }

        internal Exception? Fault { get; init; }

        internal Exception? ResetFault { get; set; }

        internal Exception? PoolerFault { get; set; }

        /// <summary>How often a pooler was asked for.</summary>
        internal int Questions { get; private set; }

        internal bool Resets { get; init; } = true;

        internal override ValueTask<string?> FindPoolerAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken)
        {
            Questions++;
            return PoolerFault is null ? new("a pooler") : throw PoolerFault;
        }

        public override object? Remember(DbConnection connection)
        {
            Told.Add("remember");
            return this;
        }

        public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
            new(Note("reset async", session));

        public override bool Reset(DbConnection connection, DbSessionInfo session) => Note("reset here", session);

        public override ValueTask<bool> ValidateAsync(DbConnection connection, CancellationToken cancellationToken)
        {
            Told.Add("validate async");
            return base.ValidateAsync(connection, cancellationToken);
        }

        public override bool Validate(DbConnection connection)
        {
            Told.Add("validate here");
            return base.Validate(connection);
        }

        public override DbErrorKind Classify(Exception exception, DbConnection connection)
        {
            Seen = exception;
            return Fault is null ? Kind : throw Fault;
        }

        private bool Note(string what, DbSessionInfo session)
        {
            Assert.Same(this, session.Remembered);
            Told.Add(session.WasLent ? what + " lent" : what);
            return ResetFault is null ? Resets : throw ResetFault;
        }
    }
}
