using System.Data.Common;
using System.Globalization;
using System.Net.Sockets;
using Xunit.Abstractions;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// Callers that leave all kinds of things on their sessions, while sessions are killed: none of them finds anything of another.
/// </summary>
/// <param name="State">A question for all that a session can keep, answered by one text.</param>
/// <param name="Leftovers">Statements that leave something; they may fail.</param>
/// <param name="KillAsync">Kills a session, as a random number says which.</param>
internal sealed record Chaos(string State, IReadOnlyList<string> Leftovers, Func<int, Task> KillAsync)
{
    private const int Callers = 6;

    /// <summary>Operations between two kills.</summary>
    private const int Interval = 250;

    private int _done;
    private int _errors;

    /// <summary>Does so many operations, and checks before each one that its session is as new.</summary>
    internal async Task RunAsync(PooledDbDataSource pool, int operations, ITestOutputHelper output)
    {
        string? given = Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SEED");
        int seed = given is null ? Random.Shared.Next() : int.Parse(given, CultureInfo.InvariantCulture);
        output.WriteLine($"seed {seed} (repeat with TIDEPOOL_TEST_SEED={seed})");
        string clean;
        await using (PooledDbConnection first = await pool.OpenConnectionAsync())
        {
            clean = first.Read<string>(State);
        }

        Task[] callers = [.. Enumerable.Range(0, Callers)
            .Select(caller => Task.Run(() => CallAsync(pool, new Random(seed + caller), clean, operations)))];
        Task all = Task.WhenAll(callers);
        var random = new Random(seed - 1);
        int kills = 0;
        while (!all.IsCompleted)
        {
            if (Volatile.Read(ref _done) >= (kills + 1) * Interval)
            {
                await KillAsync(random.Next());
                kills++;
            }

            await Task.WhenAny(all, Task.Delay(1));
        }

        await all;
        output.WriteLine($"{_done} operations, {kills} kills, {_errors} errors");
        Assert.True(kills > 0, "nothing was killed");
        Assert.InRange(_errors, 0, kills * Callers); // a kill ends what is in flight, and no more
        pool.Settle();
        pool.Validate();
        Assert.Equal((0, pool.GetStatistics().Rented), (pool.GetStatistics().Leased, pool.GetStatistics().Returned));
    }

    private async Task CallAsync(PooledDbDataSource pool, Random random, string clean, int operations)
    {
        while (Interlocked.Increment(ref _done) <= operations)
        {
            try
            {
                await UseAsync(pool, random, clean);
            }
            catch (Exception e) when (IsOfServer(e))
            {
                Interlocked.Increment(ref _errors);
            }
        }
    }

    /// <summary>One rental. Errors of what it leaves are its own affair; those before that are the pool's.</summary>
    private async Task UseAsync(PooledDbDataSource pool, Random random, string clean)
    {
        bool isSync = random.Next(4) == 0;
        PooledDbConnection connection = isSync ? pool.OpenConnection() : await pool.OpenConnectionAsync();
        try
        {
            Assert.Equal(clean, connection.Read<string>(State));
            for (int i = random.Next(4); i > 0; i--)
            {
                await LeaveAsync(connection, random);
            }
        }
        finally
        {
            if (isSync)
            {
                connection.Dispose();
            }
            else
            {
                await connection.DisposeAsync();
            }
        }
    }

    private async Task LeaveAsync(PooledDbConnection connection, Random random)
    {
        string text = Leftovers[random.Next(Leftovers.Count)];
        try
        {
            switch (random.Next(12))
            {
                case 0:
                    await connection.BeginTransactionAsync();
                    break;
                case 1:
                    connection.Unwrap<DbConnection>().Run(text);
                    break;
                case 2:
                    DbCommand prepared = connection.CreateCommand();
                    prepared.CommandText = "SELECT 40 + 2";
                    await prepared.PrepareAsync();
                    Assert.Equal(42L, Convert.ToInt64(await prepared.ExecuteScalarAsync(), CultureInfo.InvariantCulture));
                    break;
                case 3:
                    DbCommand command = connection.CreateCommand();
                    command.CommandText = State;
                    await command.ExecuteReaderAsync(); // and no one closes it
                    break;
                default:
                    connection.Run(text);
                    break;
            }
        }
        catch (Exception e) when (IsOfServer(e) || e is InvalidOperationException)
        {
            // A transaction that failed, a reader that is open, a session that was killed.
        }
    }

    /// <summary>MySqlConnector lets some errors of the connection pass as they are.</summary>
    private static bool IsOfServer(Exception e) => e is DbException or IOException or SocketException;
}
