using System.Data;
using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Storage;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <content>What programs do with a context: all that writes.</content>
internal static partial class Scenarios
{
    public static async Task An_insert_with_a_generated_key(Run run)
    {
        await using ShopContext context = run.New();
        var customer = new Customer { Name = "new", Balance = 1.25m };
        context.Customers.Add(customer);
        run.Say(await run.Save(context));
        run.Say(customer);
    }

    public static async Task Inserts_in_one_batch(Run run)
    {
        await using ShopContext context = run.New();
        Customer[] customers = [.. Enumerable.Range(0, 60).Select(static i => new Customer { Name = $"batch {i}", Balance = i })];
        context.Customers.AddRange(customers);
        run.Say(await run.Save(context));
        run.Say(customers.Select(static c => c.Id));
    }

    public static async Task A_graph_of_new_rows(Run run)
    {
        await using ShopContext context = run.New();
        var customer = new Customer { Name = "graph" };
        customer.Orders.Add(new Order { What = "one", Price = 1m });
        customer.Orders.Add(new Order { What = "two", Price = 2m });
        customer.Tags.Add(new Tag { Id = new Guid(9, 0, 0, new byte[8]), Text = "fresh" });
        context.Add(customer);
        run.Say(await run.Save(context));
        run.Say(customer);
        run.Say(customer.Orders);
    }

    public static async Task A_key_of_the_programs_own(Run run)
    {
        await using ShopContext context = run.New();
        context.Tags.Add(new Tag { Id = new Guid(7, 0, 0, new byte[8]), Text = "own" });
        run.Say(await run.Save(context));
        run.Say(await run.List(context.Tags.OrderBy(t => t.Text)));
    }

    public static async Task An_update(Run run)
    {
        await using ShopContext context = run.New();
        Customer customer = await run.First(context.Customers.Where(c => c.Id == 2));
        customer.Balance += 100.5m;
        customer.Version++;
        run.Say(await run.Save(context));
        run.Say(await run.List(context.Customers.AsNoTracking().OrderBy(c => c.Id)));
    }

    public static async Task A_deletion(Run run)
    {
        await using ShopContext context = run.New();
        context.Remove(await run.First(context.Orders.OrderByDescending(o => o.Id)));
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_deletion_with_dependents(Run run)
    {
        await using ShopContext context = run.New();
        context.Remove(await run.First(context.Customers.Include(c => c.Orders).Where(c => c.Id == 5)));
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Orders));
    }

    public static async Task Inserts_updates_and_deletions_at_once(Run run)
    {
        await using ShopContext context = run.New();
        List<Customer> customers = await run.List(context.Customers.OrderBy(c => c.Id));
        customers[0].Balance = 77m;
        customers[1].Name = "renamed";
        context.Remove(customers[4]);
        context.Add(new Customer { Name = "added" });
        run.Say(await run.Save(context));
        run.Say(await run.List(context.Customers.AsNoTracking().OrderBy(c => c.Id)));
    }

    public static async Task Nothing_to_save(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Customers));
        run.Say(await run.Save(context));
    }

    public static async Task Links_between_rows(Run run)
    {
        await using ShopContext context = run.New();
        Customer customer = await run.First(context.Customers.Include(c => c.Tags).Where(c => c.Id == 3));
        List<Tag> tags = await run.List(context.Tags.OrderBy(t => t.Text));
        customer.Tags.Clear();
        customer.Tags.AddRange(tags);
        run.Say(await run.Save(context));
        customer.Tags.RemoveAt(0);
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Tags.Where(t => t.Customers.Any(c => c.Id == 3))));
    }

    public static async Task A_concurrency_token_that_fits(Run run)
    {
        await using ShopContext context = run.New();
        Customer customer = await run.First(context.Customers.OrderBy(c => c.Id));
        customer.Version = 5;
        run.Say(await run.Save(context));
        customer.Version = 6;
        run.Say(await run.Save(context));
    }

    public static async Task A_concurrency_token_that_has_changed(Run run)
    {
        await using ShopContext context = run.New();
        Customer customer = await run.First(context.Customers.OrderBy(c => c.Id));
        run.Say(await run.Execute(context, "UPDATE \"Customers\" SET \"Version\" = 3"));
        customer.Balance = 1m;
        await run.FailAsync(() => run.Save(context));
        context.ChangeTracker.Clear();
        run.Say(await run.List(context.Customers.OrderBy(c => c.Id)));
    }

    public static async Task A_row_that_was_deleted_meanwhile(Run run)
    {
        await using ShopContext context = run.New();
        Order order = await run.First(context.Orders.OrderBy(o => o.Id));
        run.Say(await run.Execute(context, "DELETE FROM \"Orders\" WHERE \"Id\" = {0}", order.Id));
        context.Remove(order);
        await run.FailAsync(() => run.Save(context));
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_broken_constraint(Run run)
    {
        await using ShopContext context = run.New();
        context.Add(new Customer { Name = "customer 1" });
        await run.FailAsync(() => run.Save(context));
        context.ChangeTracker.Clear();
        context.Add(new Order { What = "of nobody", CustomerId = 99 });
        await run.FailAsync(() => run.Save(context));
        context.ChangeTracker.Clear();
        context.Add(new Customer { Name = "fits" });
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task A_failed_batch_changes_nothing(Run run)
    {
        await using ShopContext context = run.New();
        context.AddRange(new Customer { Name = "good" }, new Customer { Name = "customer 2" }, new Customer { Name = "good too" });
        await run.FailAsync(() => run.Save(context));
        await using ShopContext other = run.New();
        run.Say(await run.List(other.Customers.OrderBy(c => c.Id)));
    }

    public static async Task Updates_without_loading(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Update(context.Customers.Where(c => c.Id > 2), static s => s.SetProperty(c => c.Version, c => c.Version + 1)));
        run.Say(await run.Update(context.Orders, static s => s.SetProperty(o => o.What, "all").SetProperty(o => o.Price, 5m)));
        run.Say(await run.List(context.Customers.OrderBy(c => c.Id)));
        run.Say(await run.Sum(context.Orders.Select(o => o.Price)));
    }

    public static async Task Deletions_without_loading(Run run)
    {
        await using ShopContext context = run.New();
        run.Say(await run.Delete(context.Orders.Where(o => o.CustomerId == 5)));
        run.Say(await run.Delete(context.Customers.Where(c => c.Orders.Count == 0)));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task An_update_without_loading_that_fails(Run run)
    {
        await using ShopContext context = run.New();
        await run.FailAsync(() => run.Update(context.Customers, static s => s.SetProperty(c => c.Name, "same")));
        run.Say(await run.Count(context.Customers.Where(c => c.Name == "same")));
    }

    public static async Task A_transaction_that_is_committed(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        context.Add(new Customer { Name = "committed" });
        run.Say(await run.Save(context));
        run.Say(await run.Update(context.Orders, static s => s.SetProperty(o => o.What, "in it")));
        await run.Commit(transaction);
        await run.End(transaction);
        await using ShopContext other = run.New();
        run.Say(await run.Count(other.Customers));
        run.Say(await run.Count(other.Orders.Where(o => o.What == "in it")));
    }

    public static async Task A_transaction_that_is_rolled_back(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.Delete(context.Orders));
        await run.RollBack(transaction);
        await run.End(transaction);
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_transaction_that_is_only_disposed(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.Delete(context.Orders));
        await run.End(transaction);
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_transaction_that_ends_with_its_context(Run run)
    {
        ShopContext context = run.New();
        await run.Begin(context);
        run.Say(await run.Delete(context.Orders));
        await run.End(context);
        await using ShopContext other = run.New();
        run.Say(await run.Count(other.Orders));
    }

    public static async Task A_transaction_with_an_isolation_level(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context, IsolationLevel.Serializable);
        run.Say(transaction.GetDbTransaction().IsolationLevel);
        run.Say(await run.Count(context.Orders));
        await run.Commit(transaction);
        await run.End(transaction);
    }

    public static async Task A_transaction_inside_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        await run.FailAsync(() => run.Begin(context));
        run.Say(await run.Count(context.Orders));
        await run.Commit(transaction);
        await run.FailAsync(() => run.Commit(transaction));
        await run.End(transaction);
        run.Say(await run.Count(context.Orders));
    }

    public static async Task Transactions_one_after_another(Run run)
    {
        await using ShopContext context = run.New();
        for (int i = 0; i < 3; i++)
        {
            IDbContextTransaction transaction = await run.Begin(context);
            context.Add(new Customer { Name = $"transaction {i}" });
            run.Say(await run.Save(context));
            await (i == 1 ? run.RollBack(transaction) : run.Commit(transaction));
            context.ChangeTracker.Clear(); // the key of a row that was rolled back may be given again
            await run.End(transaction);
        }

        run.Say(await run.List(context.Customers.AsNoTracking().OrderBy(c => c.Id)));
    }

    public static async Task Savepoints(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        run.Say(await run.Execute(context, "DELETE FROM \"Orders\" WHERE \"Id\" = 1"));
        await run.Savepoint(transaction, "here");
        run.Say(await run.Execute(context, "DELETE FROM \"Orders\""));
        await run.RollBackTo(transaction, "here");
        run.Say(await run.Count(context.Orders));
        await run.Commit(transaction);
        await run.End(transaction);
    }

    public static async Task A_failed_save_inside_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        IDbContextTransaction transaction = await run.Begin(context);
        context.Add(new Customer { Name = "before" });
        run.Say(await run.Save(context));
        context.AddRange(new Customer { Name = "lost" }, new Customer { Name = "customer 1" });
        await run.FailAsync(() => run.Save(context));
        context.ChangeTracker.Clear();
        context.Add(new Customer { Name = "after" });
        run.Say(await run.Save(context));
        await run.Commit(transaction);
        await run.End(transaction);
        run.Say(await run.List(context.Customers.AsNoTracking().OrderBy(c => c.Name).Select(c => c.Name)));
    }

    public static async Task A_strategy_around_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        IExecutionStrategy strategy = context.Database.CreateExecutionStrategy();
        await strategy.ExecuteAsync(async () =>
        {
            await using IDbContextTransaction transaction = await run.Begin(context);
            run.Say(await run.Delete(context.Orders.Where(o => o.Id < 4)));
            await run.Commit(transaction);
        });
        run.Say(await run.Count(context.Orders));
    }

    public static async Task A_transaction_of_two_contexts(Run run)
    {
        await using ShopContext one = run.New();
        IDbContextTransaction transaction = await run.Begin(one);
        DbConnection shared = one.Database.GetDbConnection();
        await using (ShopContext other = run.New())
        {
            other.Database.SetDbConnection(shared);
            await other.Database.UseTransactionAsync(transaction.GetDbTransaction());
            run.Say(await run.Delete(other.Orders));
        }

        run.Say(await run.Count(one.Orders));
        await run.RollBack(transaction);
        await run.End(transaction);
        run.Say(await run.Count(one.Orders));
    }

    public static async Task Saves_without_a_transaction(Run run)
    {
        await using ShopContext context = run.New();
        context.Database.AutoTransactionBehavior = AutoTransactionBehavior.Never;
        context.AddRange(new Customer { Name = "a" }, new Customer { Name = "b" });
        run.Say(await run.Save(context));
        context.Database.AutoTransactionBehavior = AutoTransactionBehavior.Always;
        context.Add(new Customer { Name = "c" });
        run.Say(await run.Save(context));
        run.Say(await run.Count(context.Customers));
    }

    public static async Task Accepted_changes_that_are_saved_again(Run run)
    {
        await using ShopContext context = run.New();
        context.Add(new Customer { Name = "twice" });
        run.Say(await run.Get(stop => context.SaveChangesAsync(false, stop), () => context.SaveChanges(false)));
        await run.FailAsync(() => run.Save(context));
    }
}
