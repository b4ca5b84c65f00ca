using System.Collections.Concurrent;
using System.Data.Common;
using System.Globalization;
using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;
using Xunit.Abstractions;

namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// What happens to a reset that travels with the next statement (<see cref="PooledDbOptions.ResetWithNextStatement"/>) when the network
/// fails, or its caller gives up, while it is under way.
/// </summary>
public sealed class NextResetFaults(FaultServer server, ITestOutputHelper output) : FaultTest(server)
{
    private const string Setting = "SHOW work_mem";
    private const string Clean = "4MB";
    private const string WaitsForCancellation = "Cancellation Timeout=0"; // without it a session breaks after two seconds

    [PostgresTheory]
    [InlineData("token")]
    [InlineData("Cancel")]
    public async Task A_statement_that_is_cancelled_during_the_reset_ends_after_it_and_the_session_is_clean(string how)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(1), proxy.Port, WaitsForCancellation, resetsLater: true);
        int process = await LeaveAsync(pool);
        using var cancellation = new CancellationTokenSource();
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT pg_sleep(3600)";
            Task<object?> answer = await SendAsync(proxy, () => command.ExecuteScalarAsync(cancellation.Token));
            Task cancelling = how == "token" ? cancellation.CancelAsync() : Task.Run(command.Cancel); // may wait for the reset

            Assert.False(answer.IsCompleted);
            proxy.ToClient.IsBlackhole = false;

            Exception failure = await Assert.ThrowsAnyAsync<Exception>(() => answer);
            Assert.True(failure is OperationCanceledException or PostgresException { SqlState: "57014" }, failure.ToString());
            await cancelling;
            Assert.Equal(Clean, await ReadAsync<string>(connection, Setting));
        }

        Assert.Equal(process, await UseAsync(pool));
        Assert.Equal(0, pool.GetStatistics().Destroyed);
    }

    [PostgresTheory]
    [InlineData("RST")]
    [InlineData("FIN")]
    public async Task A_connection_that_is_cut_during_the_reset_fails_that_statement_and_no_other(string cut)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(2), proxy.Port, WaitsForCancellation, resetsLater: true);
        int process = await LeaveAsync(pool);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            Task<string> answer = await SendAsync(proxy, () => ReadAsync<string>(connection, Setting));
            if (cut == "RST")
            {
                proxy.ResetAll();
            }
            else
            {
                proxy.CloseAll();
            }

            await Assert.ThrowsAsync<NpgsqlException>(() => answer);
            proxy.ToClient.IsBlackhole = false;
        }

        for (int i = 0; i < 4; i++)
        {
            await using PooledDbConnection next = await pool.OpenConnectionAsync();
            Assert.Equal(Clean, await ReadAsync<string>(next, Setting));
            Assert.NotEqual(process, ProcessOf(next));
        }
    }

    [PostgresFact]
    public async Task A_connection_that_is_closed_during_the_reset_does_not_wait_and_is_not_used_again()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            Patient(1) with { PolicyTimeout = TimeSpan.FromSeconds(5) }, // ending it waits for its answer
            proxy.Port,
            WaitsForCancellation,
            resetsLater: true);
        int process = await LeaveAsync(pool);
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        Task<string> answer = await SendAsync(proxy, () => ReadAsync<string>(connection, Setting));

        await connection.DisposeAsync();
        Assert.False(answer.IsCompleted);
        await UntilAsync(() => pool.GetStatistics().Total == 0, "its place is free");

        proxy.ResetAll();
        proxy.ToClient.IsBlackhole = false;
        await Assert.ThrowsAnyAsync<Exception>(() => answer);
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(Clean, await ReadAsync<string>(next, Setting));
        Assert.NotEqual(process, ProcessOf(next));
    }

    [PostgresFact]
    public async Task A_session_that_the_server_ends_before_its_reset_is_sent_costs_one_error_and_none_when_it_is_validated()
    {
        foreach (bool validates in new[] { false, true })
        {
            PooledDbDataSource pool = NewPool(
                Patient(1) with { ValidateAfterIdle = validates ? TimeSpan.Zero : Never }, more: WaitsForCancellation, resetsLater: true);
            int process = await LeaveAsync(pool);
            await Cluster.TerminateAsync(process);
            await UntilAsync(
                async () => !(await Cluster.ListSessionsAsync()).Any(session => session.Process == process), "the server ends it");

            Assert.Equal(validates, await TryUseAsync(pool) is null);

            await using PooledDbConnection next = await pool.OpenConnectionAsync();
            Assert.Equal(Clean, await ReadAsync<string>(next, Setting));
        }
    }

    [PostgresFact]
    public async Task Callers_that_give_up_at_any_moment_meet_nothing_of_each_other()
    {
        int seed = Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SEED") is { } given
            ? int.Parse(given, CultureInfo.InvariantCulture)
            : Random.Shared.Next();
        output.WriteLine($"seed {seed} (repeat with TIDEPOOL_TEST_SEED={seed})");
        PooledDbDataSource pool = NewPool(Patient(3), more: WaitsForCancellation, resetsLater: true);
        await Task.WhenAll(Enumerable.Range(0, 6).Select(caller => Task.Run(() => CallAsync(pool, new Random(seed + caller)))));
        await SettleAsync(pool);
        await using PooledDbConnection last = await pool.OpenConnectionAsync();
        Assert.Equal(Clean, await ReadAsync<string>(last, Setting));
    }

    [PostgresFact]
    public async Task While_the_pool_is_cleared_again_and_again_callers_get_no_session_from_before_a_clear_and_nothing_of_each_other()
    {
        PooledDbDataSource pool = NewPool(Patient(3), resetsLater: true);
        int clears = 0;
        bool isOver = false;
        var known = new ConcurrentDictionary<int, int>(); // a session, and how many clears there were when it was first seen
        Task[] callers = [.. Enumerable.Range(0, 6).Select(_ => Task.Run(async () =>
        {
            while (!Volatile.Read(ref isOver))
            {
                int before = Volatile.Read(ref clears);
                await using PooledDbConnection connection = await pool.OpenConnectionAsync();
                int process = ProcessOf(connection);
                Assert.True(before <= known.GetOrAdd(process, Volatile.Read(ref clears)), "the session is from before a clear");
                Assert.Equal(Clean, await ReadAsync<string>(connection, Setting));
                await RunAsync(connection, "SET work_mem = '7MB'");
            }
        }))];
        for (int i = 0; i < 40; i++)
        {
            long rented = pool.GetStatistics().Rented;
            await UntilAsync(() => pool.GetStatistics().Rented > rented + 10 || callers.Any(static one => one.IsCompleted), "callers rent");
            Task cleared = pool.ClearAsync();
            Interlocked.Increment(ref clears);
            await cleared;
        }

        Volatile.Write(ref isOver, true);
        await Task.WhenAll(callers);
        await SettleAsync(pool);
    }

    private static async Task CallAsync(PooledDbDataSource pool, Random random)
    {
        for (int i = 0; i < 200; i++)
        {
            using var cancellation = new CancellationTokenSource();
            cancellation.CancelAfter(TimeSpan.FromMicroseconds(random.Next(1, 6000)));
            try
            {
                await using PooledDbConnection connection = await pool.OpenConnectionAsync(cancellation.Token);
                await using DbCommand command = connection.CreateCommand();
                command.CommandText = Setting;
                Assert.Equal(Clean, await command.ExecuteScalarAsync(random.Next(2) == 0 ? cancellation.Token : default));
                command.CommandText = "SET work_mem = '7MB'";
                await command.ExecuteNonQueryAsync(CancellationToken.None);
                command.CommandText = "SELECT pg_sleep(0.002)";
                await command.ExecuteNonQueryAsync(cancellation.Token);
            }
            catch (OperationCanceledException)
            {
                // It gave up.
            }
        }
    }

    /// <summary>Rents once, and leaves a setting whose reset waits for the next statement.</summary>
    /// <returns>The session's process.</returns>
    private static async Task<int> LeaveAsync(PooledDbDataSource pool)
    {
        await UseAsync(pool);
        await SettleAsync(pool);
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await RunAsync(connection, "SET work_mem = '7MB'");
        return ProcessOf(connection);
    }

    /// <summary>Sends something whose answer stays on its way, that of the reset before it too.</summary>
    private static async Task<Task<T>> SendAsync<T>(FaultProxy proxy, Func<Task<T>> send)
    {
        proxy.ToClient.IsBlackhole = true;
        long before = proxy.ToServer.Pieces;
        Task<T> answer = send();
        await UntilAsync(() => proxy.ToServer.Pieces > before, "it is sent");
        return answer;
    }
}
