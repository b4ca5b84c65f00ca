using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Storage;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What programs do with a context on a server: killed sessions, tries that are made again, what only PostgreSQL has.</summary>
internal static class ServerScenarios
{
    public static async Task A_session_that_is_killed_while_the_connection_is_held(Run run)
    {
        await using ShopContext context = run.New();
        await run.Open(context);
        run.LeaveConnectionsOut();
        await run.Kill(context);
        await run.FailAsync(() => run.Count(context.Customers));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_session_that_is_killed_in_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.Delete(context.Orders));
        await run.Kill(context);
        await run.FailAsync(() => run.Count(context.Customers));
        await run.FailAsync(() => run.Commit(transaction));
        await run.End(transaction);
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_session_that_is_killed_before_a_commit(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.Delete(context.Orders));
        await run.Kill(context);
        await run.FailAsync(() => run.Commit(transaction));
        await run.End(transaction);
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_session_that_is_killed_before_a_save(Run run)
    {
        await using ShopContext context = run.New();
        await run.Open(context);
        run.LeaveConnectionsOut();
        await run.Kill(context);
        context.Add(new Customer { Name = "lost" });
        await run.FailAsync(() => run.Save(context));
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_query_that_is_tried_again_after_a_kill(Run run)
    {
        await using ShopContext context = run.New(retries: true);
        await run.Open(context);
        run.LeaveConnectionsOut();
        await run.Kill(context);
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_save_that_is_tried_again_after_a_kill(Run run)
    {
        await using ShopContext context = run.New(retries: true);
        context.Add(new Customer { Name = "first" });
        run.Say(await run.Save(context));
        await run.Open(context);
        run.LeaveConnectionsOut();
        await run.Kill(context);
        context.AddRange(new Customer { Name = "second" }, new Customer { Name = "third" });
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_transaction_that_is_tried_again_after_a_kill(Run run)
    {
        await using ShopContext context = run.New(retries: true);
        bool isKilled = false;
        await context.Database.CreateExecutionStrategy().ExecuteAsync(async () =>
        {
            context.ChangeTracker.Clear();
            await using IDbContextTransaction transaction = await run.Begin(context);
            context.Add(new Customer { Name = "in it" });
            run.Say(await run.Save(context));
            if (!isKilled)
            {
                isKilled = true;
                await run.Kill(context);
            }

            run.Say(await run.Delete(context.Orders));
            await run.Commit(transaction);
        });
        run.Say(await run.Count(context.Customers));
    }

    public static async Task An_error_that_is_not_tried_again(Run run)
    {
        await using ShopContext context = run.New(retries: true);
        context.Add(new Customer { Name = "customer 1" });
        await run.FailAsync(() => run.Save(context));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_statement_that_takes_too_long(Run run)
    {
        await using ShopContext context = run.New();
        context.Database.SetCommandTimeout(1);
        await run.FailAsync(() => run.Execute(context, "SELECT pg_sleep(60)"));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_transaction_that_has_failed(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        await run.FailAsync(() => run.Execute(context, "SELECT 1 / 0"));
        await run.FailAsync(() => run.Count(context.Customers));
        await run.RollBack(transaction);
        await run.End(transaction);
        run.Say(await run.Count(context.Customers));
    }

    public static async Task Arrays_as_parameters(Run run)
    {
        await using ShopContext context = run.New();
        int[] ids = [2, 3];
        run.Say(await run.List(context.Customers.FromSql($"SELECT * FROM \"Customers\" WHERE \"Id\" = ANY ({ids})").OrderBy(c => c.Id)));
    }

    public static async Task Settings_of_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.Execute(context, "SET LOCAL work_mem = '77MB'"));
        run.Say(await run.List(context.Database.SqlQuery<string>($"SELECT current_setting('work_mem') AS \"Value\"")));
        await run.Commit(transaction);
        await run.End(transaction);
        run.Say(await run.List(context.Database.SqlQuery<string>($"SELECT current_setting('work_mem') AS \"Value\"")));
    }

    public static async Task Settings_that_a_context_leaves(Run run)
    {
        await using (ShopContext context = run.New())
        {
            await run.Open(context);
            run.Say(await run.Execute(context, "SET work_mem = '77MB'"));
            run.Say(await run.Execute(context, "CREATE TEMP TABLE left_over (a int)"));
            await run.Close(context);
        }

        await using ShopContext next = run.New();
        run.Say(await run.List(next.Database.SqlQuery<string>($"SELECT current_setting('work_mem') AS \"Value\"")));
        await run.FailAsync(() => run.Execute(next, "SELECT * FROM left_over"));
    }

    public static async Task A_database_that_is_not_there(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Get(context.Database.EnsureDeletedAsync, context.Database.EnsureDeleted));
        await run.FailAsync(() => run.Count(context.Customers));
        await run.FailAsync(() => run.Begin(context));
    }
}
