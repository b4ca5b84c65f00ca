using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>Sessions that the server ends: one, all, and all by the crash of one.</summary>
public sealed class BackendFaults(FaultServer server) : FaultTest(server)
{
    [PostgresFact]
    public async Task One_killed_session_costs_one_error_and_its_place_is_filled_again()
    {
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 3, ValidateAfterIdle = Never, RentTimeout = Never, CreateTimeout = Never, PolicyTimeout = Never });
        int[] processes = await FillAsync(pool, 3);
        int used = await UseAsync(pool); // the one that is next
        await SettleAsync(pool);

        await Cluster.TerminateAsync(used);

        var errors = new List<Exception>();
        for (int i = 0; i < 10; i++)
        {
            if (await TryUseAsync(pool) is { } failure)
            {
                errors.Add(failure);
            }
        }

        Assert.Contains(used, processes);
        Assert.IsAssignableFrom<NpgsqlException>(Assert.Single(errors));
        await SettleAsync(pool);
        int[] now = await FillAsync(pool, 3);
        Assert.DoesNotContain(used, now);
        Assert.Equal(3, now.Distinct().Count());
    }

    [PostgresFact]
    public async Task One_killed_session_that_was_idle_for_long_costs_no_error()
    {
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 3, ValidateAfterIdle = TimeSpan.Zero, RentTimeout = Never, CreateTimeout = Never, PolicyTimeout = Never });
        int[] processes = await FillAsync(pool, 3);

        foreach (int process in processes)
        {
            await Cluster.TerminateAsync(process);
            Assert.Null(await TryUseAsync(pool));
        }

        Assert.InRange(pool.GetStatistics().Destroyed, 1, 3);
    }

    [PostgresFact]
    public async Task All_sessions_killed_cost_one_error_for_each_lease_in_flight()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 8,
                MaxCreateConcurrency = 2,
                ValidateAfterIdle = Never,
                RentTimeout = Never,
                CreateTimeout = Never,
                PolicyTimeout = Never,
            },
            proxy.Port);
        int[] processes = await FillAsync(pool, 8);
        PooledDbConnection[] held = [await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync()];
        proxy.ForgetMostConnecting();

        Assert.InRange(await Cluster.TerminateAllAsync(), 8, 9);

        Exception?[] errors = await Task.WhenAll(held.Select(static connection => TryAskAsync(connection)));
        Assert.All(errors, static failure => Assert.IsAssignableFrom<NpgsqlException>(failure));
        Exception?[] later = await Task.WhenAll(Enumerable.Range(0, 40).Select(_ => TryUseAsync(pool)));
        Assert.All(later, Assert.Null);
        await SettleAsync(pool);
        Assert.InRange(proxy.MostConnecting, 1, 2);
        Assert.Equal(8, pool.GetStatistics().Destroyed);
        Assert.Empty((await FillAsync(pool, 8)).Intersect(processes));
    }

    [PostgresFact]
    public async Task All_sessions_killed_unnoticed_cost_at_most_one_error_for_each_caller()
    {
        const int callers = 3;
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 12, ValidateAfterIdle = Never, RentTimeout = Never, CreateTimeout = Never, PolicyTimeout = Never });
        await FillAsync(pool, 12);

        await Cluster.TerminateAllAsync();

        int errors = 0;
        await Task.WhenAll(Enumerable.Range(0, callers).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; i < 20; i++)
            {
                if (await TryUseAsync(pool) is not null)
                {
                    Interlocked.Increment(ref errors);
                }
            }
        })));
        Assert.InRange(errors, 1, callers);
        await SettleAsync(pool);
        Assert.True(pool.GetStatistics().Destroyed >= 12);
    }

    [PostgresFact]
    public async Task A_crash_of_one_session_is_a_restart_for_all()
    {
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 6,
                MaxCreateConcurrency = 2,
                ValidateAfterIdle = Never,
                RentTimeout = Never,
                CreateTimeout = Never,
                PolicyTimeout = Never,
            });
        await FillAsync(pool, 6);
        PooledDbConnection[] held = [await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync()];

        await Cluster.CrashAsync(ProcessOf(held[0]));

        Exception?[] errors = await Task.WhenAll(held.Select(static connection => TryAskAsync(connection)));
        Assert.All(errors, static failure => Assert.IsAssignableFrom<NpgsqlException>(failure));
        Assert.All(await Task.WhenAll(Enumerable.Range(0, 30).Select(_ => TryUseAsync(pool))), Assert.Null);
        await SettleAsync(pool);
        Assert.Equal(6, pool.GetStatistics().Destroyed);
    }
}
