using System.Data;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.ChangeTracking;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What programs do with a context: queries, and all that reads.</summary>
[SuppressMessage("Performance", "SYSLIB1045", Justification = "The provider translates the call.")]
internal static partial class Scenarios
{
    public static async Task All_rows(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.OrderBy(c => c.Id)));
    }

    public static async Task Rows_that_are_not_tracked(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Orders.AsNoTracking().OrderBy(o => o.Id)));
        run.Say(context.ChangeTracker.Entries().Count());
    }

    public static async Task A_row_by_its_key(Run run)
    {
        await using ShopContext context = run.New();
        for (int id = 3; id < 8; id++)
        {
            run.Say(await run.Get(async stop => await context.Customers.FindAsync([id], stop), () => context.Customers.Find(id)));
        }
    }

    public static async Task A_filter_with_parameters(Run run)
    {
        await using ShopContext context = run.New();
        foreach (string name in new[] { "customer 2", "customer 4", "nobody" })
        {
            run.Say(await run.List(context.Customers.Where(c => c.Name == name || c.Version > name.Length)));
        }
    }

    public static async Task A_list_in_a_filter(Run run)
    {
        await using ShopContext context = run.New();
        int[] ids = [1, 4, 17];
        run.Say(await run.List(context.Customers.Where(c => ids.Contains(c.Id)).OrderBy(c => c.Id)));
    }

    public static async Task Comparisons_of_decimals(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.Where(c => c.Balance > 9.5m).OrderByDescending(c => c.Balance)));
        run.Say(await run.List(context.Orders.Where(o => (o.Price * 2m) + 1m > 30m && o.Price % 2m != 0m).OrderBy(o => o.Id)));
    }

    public static async Task Regular_expressions(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.Where(c => Regex.IsMatch(c.Name, "^c.*[24]$")).OrderBy(c => c.Id)));
    }

    public static async Task Aggregates(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Count(context.Orders));
        run.Say(await run.Sum(context.Orders.Select(o => o.Price)));
        run.Say(await run.Get(stop => context.Orders.MaxAsync(o => o.Price, stop), () => context.Orders.Max(o => o.Price)));
        run.Say(await run.Get(stop => context.Orders.AverageAsync(o => o.Price, stop), () => context.Orders.Average(o => o.Price)));
        run.Say(await run.Get(stop => context.Orders.AnyAsync(o => o.Price > 99m, stop), () => context.Orders.Any(o => o.Price > 99m)));
    }

    public static async Task Groups(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(
            context.Orders.GroupBy(o => o.What).OrderBy(g => g.Key).Select(g => $"{g.Key} {g.Count()}")));
    }

    public static async Task A_join(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(
            from order in context.Orders
            join customer in context.Customers on order.CustomerId equals customer.Id
            orderby order.Id
            select customer.Name + ": " + order.What));
    }

    public static async Task A_subquery(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.Where(c => c.Orders.Count > 3).OrderBy(c => c.Id).Select(c => c.Name)));
    }

    public static async Task Included_rows(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.Include(c => c.Orders).Include(c => c.Tags).OrderBy(c => c.Id)));
    }

    public static async Task A_split_query(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.Include(c => c.Orders).Include(c => c.Tags).AsSplitQuery().OrderBy(c => c.Id)));
    }

    public static async Task A_split_query_in_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        await using IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.List(context.Customers.Include(c => c.Orders).Include(c => c.Tags).AsSplitQuery().OrderBy(c => c.Id)));
    }

    public static async Task Rows_that_are_loaded_later(Run run)
    {
        await using ShopContext context = run.New();
        Customer customer = await run.First(context.Customers.Where(c => c.Id == 4));
        CollectionEntry<Customer, Order> orders = context.Entry(customer).Collection(c => c.Orders);
        await run.Do(orders.LoadAsync, orders.Load);
        run.Say(customer);
    }

    public static async Task A_row_that_is_read_again(Run run)
    {
        await using ShopContext context = run.New();
        Customer customer = await run.First(context.Customers.OrderBy(c => c.Id));
        run.Say(await run.Execute(context, "UPDATE \"Customers\" SET \"Name\" = 'other' WHERE \"Id\" = 1"));
        await run.Do(context.Entry(customer).ReloadAsync, context.Entry(customer).Reload);
        run.Say(customer);
    }

    public static async Task Pages(Run run)
    {
        await using ShopContext context = run.New();
        for (int page = 0; page < 3; page++)
        {
            run.Say(await run.List(context.Orders.OrderBy(o => o.Id).Skip(page * 4).Take(4)));
        }
    }

    public static async Task A_stream(Run run)
    {
        await using ShopContext context = run.New();
        await run.Stream(context.Orders.OrderBy(o => o.Id), order =>
        {
            run.Say(order);
            return Task.CompletedTask;
        });
    }

    public static async Task A_stream_that_is_left_early(Run run)
    {
        await using ShopContext context = run.New();
        await run.FailAsync(() => run.Stream(context.Orders.OrderBy(o => o.Id), static _ => throw new TimeZoneNotFoundException()));
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_stream_with_another_context_inside(Run run)
    {
        await using ShopContext context = run.New();
        await run.Stream(context.Customers.OrderBy(c => c.Id), async customer =>
        {
            await using ShopContext other = run.New();
            run.Say(await run.Count(other.Orders.Where(o => o.CustomerId == customer.Id)));
        });
    }

    public static async Task A_stream_with_a_query_of_the_same_context_inside(Run run)
    {
        await using ShopContext context = run.New();
        await run.FailAsync(() => run.Stream(
            context.Customers.OrderBy(c => c.Id).Take(2), async customer => run.Say(await run.Count(context.Orders))));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task Raw_queries(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.List(context.Customers.FromSqlRaw("SELECT * FROM \"Customers\" WHERE \"Id\" < {0}", 3).OrderBy(c => c.Id)));
        int most = 2;
        IQueryable<Customer> few = context.Customers.FromSql($"SELECT * FROM \"Customers\" WHERE \"Id\" <= {most}");
        run.Say(await run.List(few.OrderByDescending(c => c.Id)));
        run.Say(await run.List(context.Database.SqlQuery<int>($"SELECT \"Id\" AS \"Value\" FROM \"Customers\"").OrderBy(i => i)));
    }

    public static async Task Raw_statements(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Execute(context, "UPDATE \"Customers\" SET \"Version\" = {0} WHERE \"Id\" > {1}", 9, 2));
        run.Say(await run.Execute(context, "DELETE FROM \"Orders\" WHERE \"Id\" = {0}", 1));
        run.Say(await run.List(context.Customers.OrderBy(c => c.Id)));
    }

    public static async Task A_query_that_is_wrong(Run run)
    {
        await using ShopContext context = run.New();
        await run.FailAsync(() => run.List(context.Customers.FromSqlRaw("SELECT * FROM no_such_table")));
        await run.FailAsync(() => run.Execute(context, "no statement"));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_single_row_that_is_not_single(Run run)
    {
        await using ShopContext context = run.New();
        await run.FailAsync(() => run.Get(stop => context.Customers.SingleAsync(stop), () => context.Customers.Single()));
        await run.FailAsync(() => run.First(context.Customers.Where(c => c.Id == 99)));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_compiled_query(Run run)
    {
        await using ShopContext context = run.New();
        Func<ShopContext, int, Customer> compiled =
            EF.CompileQuery(static (ShopContext shop, int id) => shop.Customers.Single(c => c.Id == id));
        run.Say(compiled(context, 2));
        run.Say(compiled(context, 5));
    }

    public static async Task A_query_that_is_cancelled_before_it_begins(Run run)
    {
        run.LeaveConnectionsOut(); // an idle session is opened all the same by one provider, and by the other not
        await using ShopContext context = run.New();
        await run.FailAsync(() => run.Get(
            _ => context.Customers.CountAsync(new CancellationToken(canceled: true)), () => context.Customers.Count()));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task Two_queries_at_once_on_one_context(Run run)
    {
        await using ShopContext context = run.New();
        using IEnumerator<Order> open = context.Orders.OrderBy(o => o.Id).AsEnumerable().GetEnumerator();
        run.Say(open.MoveNext());
        await run.FailAsync(() => run.Count(context.Customers));
        run.Say(open.MoveNext());
    }

    public static async Task A_context_that_is_used_after_its_end(Run run)
    {
        ShopContext context = run.New();
        run.Say(await run.Count(context.Customers));
        await run.End(context);
        await run.FailAsync(() => run.Count(context.Customers));
    }

    public static async Task Contexts_one_after_another(Run run)
    {
        for (int i = 0; i < 10; i++)
        {
            ShopContext context = run.New();
            run.Say(await run.Count(context.Customers.Where(c => c.Id > i)));
            await run.End(context);
        }
    }

    public static async Task Pooled_contexts(Run run)
    {
        await using ServiceProvider services = run.Services();
        for (int i = 0; i < 4; i++)
        {
            AsyncServiceScope scope = services.CreateAsyncScope();
            ShopContext context = scope.ServiceProvider.GetRequiredService<ShopContext>();
            context.Customers.Add(new Customer { Name = $"pooled {i}" });
            run.Say(await run.Save(context));
            run.Say(await run.Count(context.Customers));
            await run.End(scope);
        }
    }

    public static async Task Pooled_contexts_that_are_left_in_a_transaction(Run run)
    {
        await using ServiceProvider services = run.Services();
        for (int i = 0; i < 4; i++)
        {
            AsyncServiceScope scope = services.CreateAsyncScope();
            ShopContext context = scope.ServiceProvider.GetRequiredService<ShopContext>();
            await run.Begin(context);
            context.Customers.Add(new Customer { Name = "never" });
            run.Say(await run.Save(context));
            run.Say(await run.Count(context.Customers));
            await run.End(scope);
        }
    }

    public static async Task Timeouts(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Count(context.Customers));
        context.Database.SetCommandTimeout(11);
        run.Say(await run.Count(context.Customers));
        run.Say(await run.Execute(context, "UPDATE \"Customers\" SET \"Version\" = 2"));
        run.Say(context.Database.GetCommandTimeout());
    }

    public static async Task A_connection_that_is_held_open(Run run)
    {
        await using ShopContext context = run.New();
        await run.Open(context);
        await run.Open(context);
        run.Say(context.Database.GetDbConnection().State);
        run.Say(await run.Execute(context, "CREATE TEMP TABLE numbers (n int)"));
        run.Say(await run.Execute(context, "INSERT INTO numbers VALUES (1), (2)"));
        run.Say(await run.List(context.Database.SqlQuery<int>($"SELECT n AS \"Value\" FROM numbers").OrderBy(n => n)));
        await run.Close(context);
        run.Say(await run.Count(context.Customers));
        await run.Close(context);
        run.Say(context.Database.GetDbConnection().State);
    }

    public static async Task Whether_the_database_can_be_reached(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Get(context.Database.CanConnectAsync, context.Database.CanConnect));
        IRelationalDatabaseCreator creator = context.GetService<IRelationalDatabaseCreator>();
        run.Say(await run.Get(creator.ExistsAsync, creator.Exists));
        run.Say(await run.Get(creator.HasTablesAsync, creator.HasTables));
    }

    public static async Task A_database_is_deleted_and_created(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Count(context.Customers));
        run.Say(await run.Get(context.Database.EnsureDeletedAsync, context.Database.EnsureDeleted));
        run.Say(await run.Get(context.Database.EnsureDeletedAsync, context.Database.EnsureDeleted));
        run.Say(await run.Get(context.Database.CanConnectAsync, context.Database.CanConnect));
        run.Say(await run.Get(context.Database.EnsureCreatedAsync, context.Database.EnsureCreated));
        run.Say(await run.Get(context.Database.EnsureCreatedAsync, context.Database.EnsureCreated));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task Migrations(Run run)
    {
        await using var context = new MigratedContext(run.Options<MigratedContext>());
        run.Say(await run.Get(
            async stop => (await context.Database.GetPendingMigrationsAsync(stop)).ToList(),
            () => context.Database.GetPendingMigrations().ToList()));
        await run.Migrate(context);
        await run.Migrate(context);
        run.Say(await run.Get(
            async stop => (await context.Database.GetAppliedMigrationsAsync(stop)).ToList(),
            () => context.Database.GetAppliedMigrations().ToList()));
        context.Add(new Remark { Text = "first" });
        run.Say(await run.Save(context));
        run.Say((await run.First(context.Set<Remark>())).Text);
    }

    public static async Task Migrations_of_a_database_that_is_not_there(Run run)
    {
        await using var context = new MigratedContext(run.Options<MigratedContext>());
        run.Say(await run.Get(context.Database.EnsureDeletedAsync, context.Database.EnsureDeleted));
        await run.Migrate(context);
        context.Add(new Remark { Text = "first" });
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Set<Remark>()));
    }

}
