using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using System.Text.RegularExpressions;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Diagnostics;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Where swapping the connection of a context could go wrong, with any provider.</summary>
[SuppressMessage("Performance", "SYSLIB1045", Justification = "The provider translates the call.")]
internal static partial class Traps
{
    public static async Task A_context_that_has_queried_and_idles_holds_no_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));

        Assert.Equal(5, await context.Customers.CountAsync());
        Assert.Equal(0, source.GetStatistics().Leased);
        Assert.Equal(5, context.Customers.ToList().Count);
        Assert.Equal(0, source.GetStatistics().Leased);
        Assert.Equal(ConnectionState.Closed, context.Database.GetDbConnection().State);
    }

    public static async Task Two_contexts_take_turns_on_one_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var one = new ShopContext(database.Options(source));
        await using var other = new ShopContext(database.Options(source));
        for (int i = 0; i < 20; i++)
        {
            one.Customers.Add(new Customer { Name = $"one {i}" });
            await one.SaveChangesAsync();
            other.Customers.Add(new Customer { Name = $"other {i}" });
            other.SaveChanges();
            Assert.Equal(5 + (2 * (i + 1)), await one.Customers.CountAsync());
        }

        Assert.Equal(1, source.GetStatistics().Created);
    }

    public static async Task Many_contexts_at_once_share_few_sessions(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(2);
        DbContextOptions<ShopContext> options = database.Options(source);

        int[] counts = await Task.WhenAll(Enumerable.Range(0, 16).Select(_ => Task.Run(async () =>
        {
            int sum = 0;
            for (int i = 0; i < 10; i++)
            {
                await using var context = new ShopContext(options);
                sum += await context.Orders.CountAsync() + await context.Customers.CountAsync();
            }

            return sum;
        })));

        Assert.All(counts, count => Assert.Equal(200, count));
        Assert.InRange(source.GetStatistics().Created, 1, 2);
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task A_timeout_that_the_program_has_set_survives_the_swaps(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        var timeouts = new CommandRecorder();
        await using var context = new ShopContext(database.Options(source, builder => builder.AddInterceptors(timeouts)));
        context.Database.SetCommandTimeout(7);

        Assert.Equal(5, await context.Customers.CountAsync());
        Assert.Equal(1, context.Database.ExecuteSqlRaw("UPDATE \"Customers\" SET \"Version\" = 1 WHERE \"Id\" = 1"));
        await context.Database.OpenConnectionAsync();
        Assert.Equal(5, context.Customers.Count());
        await context.Database.CloseConnectionAsync();

        Assert.Equal(7, context.Database.GetCommandTimeout());
        Assert.Equal([7, 7, 7], timeouts.Timeouts);
    }

    public static async Task The_timeout_of_the_options_comes_back_with_a_pooled_context(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using ServiceProvider services = Services(database, source);
        await using (AsyncServiceScope scope = services.CreateAsyncScope())
        {
            ShopContext context = scope.ServiceProvider.GetRequiredService<ShopContext>();
            context.Database.SetCommandTimeout(7);
            Assert.Equal(5, context.Customers.Count());
        }

        await using AsyncServiceScope next = services.CreateAsyncScope();
        ShopContext reused = next.ServiceProvider.GetRequiredService<ShopContext>();
        Assert.Equal(5, reused.Customers.Count());
        Assert.Null(reused.Database.GetCommandTimeout());
    }

    public static async Task A_context_that_ends_with_an_open_connection_gives_its_session_back(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        foreach (bool isAsync in new[] { false, true })
        {
            var context = new ShopContext(database.Options(source));
            if (isAsync)
            {
                await context.Database.OpenConnectionAsync();
            }
            else
            {
                context.Database.OpenConnection();
            }

            Assert.Equal(1, source.GetStatistics().Leased);
            await EndAsync(context, isAsync);
            Assert.Equal(0, source.GetStatistics().Leased);
        }
    }

    public static async Task A_context_that_ends_with_an_open_transaction_gives_its_session_back_rolled_back(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        foreach (bool isAsync in new[] { false, true })
        {
            var context = new ShopContext(database.Options(source));
            IDbContextTransaction transaction = isAsync
                ? await context.Database.BeginTransactionAsync()
                : context.Database.BeginTransaction();
            context.Customers.Add(new Customer { Name = "nobody" });
            await context.SaveChangesAsync();
            Assert.Equal(1, source.GetStatistics().Leased);
            await EndAsync(context, isAsync);

            Assert.Equal(0, source.GetStatistics().Leased);
            transaction.Dispose(); // too late, and of no effect on the session's next user
            await using var next = new ShopContext(database.Options(source));
            Assert.Equal(5, next.Customers.Count());
        }
    }

    public static async Task A_context_that_ends_inside_a_query_gives_its_session_back(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        var context = new ShopContext(database.Options(source));
        IEnumerator<Order> orders = context.Orders.AsNoTracking().AsEnumerable().GetEnumerator();
        Assert.True(orders.MoveNext());
        Assert.Equal(1, source.GetStatistics().Leased);
        context.Dispose();

        Assert.Equal(0, source.GetStatistics().Leased);
        await using var next = new ShopContext(database.Options(source));
        await using (await next.Database.BeginTransactionAsync())
        {
            Assert.Equal(5, await next.Customers.CountAsync());
        }
    }

    public static async Task A_pooled_context_keeps_no_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using ServiceProvider services = Services(database, source);
        for (int i = 0; i < 4; i++)
        {
            bool isAsync = i % 2 == 1;
            IServiceScope scope = services.CreateScope();
            ShopContext context = scope.ServiceProvider.GetRequiredService<ShopContext>();
            context.Database.OpenConnection();
            if (i > 1)
            {
                context.Database.BeginTransaction();
            }

            context.Customers.Add(new Customer { Name = $"left {i}" });
            context.SaveChanges();
            await EndAsync(scope, isAsync);
            Assert.Equal(0, source.GetStatistics().Leased);

            using IServiceScope next = services.CreateScope();
            ShopContext reused = next.ServiceProvider.GetRequiredService<ShopContext>();
            Assert.Same(context, reused);
            Assert.Equal(ConnectionState.Closed, reused.Database.GetDbConnection().State);
            Assert.Equal(Math.Min(6 + i, 7), reused.Customers.Count());
            Assert.Equal(0, source.GetStatistics().Leased);
        }
    }

    public static async Task A_database_is_created_found_and_deleted(TestDatabase database)
    {
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        IRelationalDatabaseCreator creator = context.GetService<IRelationalDatabaseCreator>();
        for (int i = 0; i < 2; i++)
        {
            Assert.False(creator.Exists());
            Assert.False(await creator.ExistsAsync());
            Assert.True(await context.Database.EnsureCreatedAsync());
            Assert.False(context.Database.EnsureCreated());
            Assert.True(creator.Exists());
            Assert.True(await context.Database.CanConnectAsync());
            Assert.True(creator.HasTables());
            context.Customers.Add(new Customer { Name = "first" });
            Assert.Equal(1, await context.SaveChangesAsync());
            Assert.Equal(1, context.Customers.AsNoTracking().Count());
            context.ChangeTracker.Clear();
            Assert.True(i == 0 ? context.Database.EnsureDeleted() : await context.Database.EnsureDeletedAsync());
            Assert.Equal(0, source.GetStatistics().Idle); // a session of the deleted database would go on with it
            Assert.Equal(0, source.GetStatistics().Leased);
        }
    }

    public static async Task A_connection_that_the_program_opens_by_itself_is_refused(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        DbConnection connection = context.Database.GetDbConnection();

        InvalidOperationException refusal = Assert.Throws<InvalidOperationException>(connection.Open);
        Assert.Contains("OpenConnection()", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(ConnectionState.Closed, connection.State);
        await Assert.ThrowsAsync<InvalidOperationException>(connection.OpenAsync);
        Assert.Equal(ConnectionState.Closed, connection.State);
        Assert.Equal(5, await context.Customers.CountAsync());

        await context.Database.OpenConnectionAsync();
        await using (DbCommand command = context.Database.GetDbConnection().CreateCommand())
        {
            command.CommandText = "SELECT count(*) FROM \"Orders\"";
            Assert.Equal(15L, await command.ExecuteScalarAsync());
        }

        await context.Database.CloseConnectionAsync();
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task A_connection_string_that_the_program_changes_is_refused(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        Assert.Equal(5, context.Customers.Count());
        context.Database.SetConnectionString(database.ConnectionString + ";Command Timeout=3");

        InvalidOperationException refusal = Assert.Throws<InvalidOperationException>(() => context.Customers.Count());
        Assert.Contains("belongs to the pool", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task Functions_of_the_provider_work_on_every_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(2);
        for (int i = 0; i < 3; i++)
        {
            await using var one = new ShopContext(database.Options(source));
            await using var other = new ShopContext(database.Options(source));
            await one.Database.OpenConnectionAsync(); // so that there are two sessions
            foreach (ShopContext context in new[] { one, other })
            {
                Assert.Equal(3, await context.Customers.CountAsync(c => c.Balance > 5m));
                Assert.Equal(60m, await context.Customers.Where(c => c.Balance > 5m).SumAsync(c => c.Balance));
                Assert.Equal(27.5m, context.Customers.Max(c => c.Balance));
                Assert.Equal(5, context.Customers.OrderByDescending(c => c.Balance).First().Id);
                Assert.Equal(1, context.Customers.Count(c => Regex.IsMatch(c.Name, "^cust.* 3$")));
            }
        }
    }

    public static async Task An_interceptor_that_fails_while_a_connection_opens_costs_no_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        var failing = new FailingOpener();
        await using var context = new ShopContext(database.Options(source, builder => builder.AddInterceptors(failing)));
        foreach (bool isAsync in new[] { false, true })
        {
            failing.Fails = true;
            await Assert.ThrowsAsync<TimeZoneNotFoundException>(
                async () => _ = isAsync ? await context.Customers.CountAsync() : context.Customers.Count());
            Assert.Equal(0, source.GetStatistics().Leased);
            failing.Fails = false;
            Assert.Equal(5, await context.Customers.CountAsync());
            Assert.Equal(0, source.GetStatistics().Leased);
        }
    }

    public static async Task An_opening_that_is_cancelled_leaves_the_context_usable(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        await using (await source.OpenConnectionAsync())
        {
            using var stop = new CancellationTokenSource();
            Task<int> waiting = context.Customers.CountAsync(stop.Token);
            Assert.False(waiting.IsCompleted);
            await stop.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
        }

        Assert.Equal(5, await context.Customers.CountAsync());
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task A_pool_without_a_session_in_time_says_so(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, RentTimeout = TimeSpan.FromSeconds(2) } });
        await source.WarmUpAsync(1); // a new session may take long on a busy machine
        await using var context = new ShopContext(database.Options(source));
        await using (await source.OpenConnectionAsync())
        {
            PooledDbException failure = await Assert.ThrowsAsync<PooledDbException>(() => context.Customers.CountAsync());
            Assert.IsType<ResourcePoolTimeoutException>(failure.PoolError);
        }

        Assert.Equal(5, context.Customers.Count());
    }

    public static async Task A_session_shows_nothing_of_the_context_before(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var one = new ShopContext(database.Options(source));
        await using var other = new ShopContext(database.Options(source));
        await one.Database.OpenConnectionAsync();
        await one.Database.ExecuteSqlRawAsync("CREATE TEMP TABLE left_over (a int)");
        await one.Database.ExecuteSqlRawAsync("BEGIN");
        await one.Database.CloseConnectionAsync();

        await Assert.ThrowsAnyAsync<DbException>(() => other.Database.ExecuteSqlRawAsync("INSERT INTO left_over VALUES (1)"));
        await using (await other.Database.BeginTransactionAsync())
        {
            Assert.Equal(5, await other.Customers.CountAsync());
        }
    }

    public static async Task What_the_program_did_by_itself_with_the_connection_reaches_nobody(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        await context.Database.OpenConnectionAsync();
        await using (DbCommand command = context.Database.GetDbConnection().CreateCommand())
        {
            command.CommandText = database.HasServer ? "SET work_mem = '77MB'" : "PRAGMA cache_size = -777";
            await command.ExecuteNonQueryAsync();
        }

        await context.Database.CloseConnectionAsync();
        await using PooledDbConnection next = await source.OpenConnectionAsync();
        await using DbCommand question = next.CreateCommand();
        question.CommandText = database.HasServer ? "SHOW work_mem" : "PRAGMA cache_size";
        Assert.DoesNotContain("77", $"{await question.ExecuteScalarAsync()}", StringComparison.Ordinal);
    }

    public static async Task A_connection_of_the_programs_own_is_let_pass(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        await using PooledDbDataSource elsewhere = database.NewPool(1);
        await using (DbConnectionLease lease = await elsewhere.RentNativeAsync())
        {
            context.Database.SetDbConnection(lease.Connection);
            Assert.Equal(5, await context.Customers.CountAsync());
            Assert.Equal(0, source.GetStatistics().Created);
            context.Database.SetDbConnection(null);
        }

        Assert.Equal(5, await context.Customers.CountAsync());
        Assert.Equal(1, source.GetStatistics().Created);
    }

    public static async Task Options_that_cannot_work_are_refused(TestDatabase database)
    {
        await using PooledDbDataSource source = database.NewPool(1);
        Assert.Throws<ArgumentNullException>(() => new DbContextOptionsBuilder().UseTidepool(null!));
        Assert.Throws<ArgumentNullException>(() => ((DbContextOptionsBuilder)null!).UseTidepool(source));
        InvalidOperationException early = Assert.Throws<InvalidOperationException>(() => new DbContextOptionsBuilder().UseTidepool(source));
        Assert.Contains("provider before it", early.Message, StringComparison.Ordinal);
        var own = new DbContextOptionsBuilder();
        database.UseProvidersPool(own);
        InvalidOperationException twice = Assert.Throws<InvalidOperationException>(() => own.UseTidepool(source));
        Assert.Contains("connection of its own", twice.Message, StringComparison.Ordinal);
        DbContextOptionsBuilder later = new DbContextOptionsBuilder<ShopContext>(database.Options(source));
        database.UseProvidersPool(later);
        await using var context = new ShopContext((DbContextOptions<ShopContext>)later.Options);
        Assert.Throws<InvalidOperationException>(() => context.Customers.Count());
    }

    internal static ServiceProvider Services(TestDatabase database, PooledDbDataSource source) => new ServiceCollection()
        .AddDbContextPool<ShopContext>(builder =>
        {
            database.UseProvider(builder);
            builder.UseTidepool(source);
        })
        .BuildServiceProvider();

    private static async ValueTask EndAsync<T>(T item, bool isAsync)
        where T : IDisposable
    {
        if (isAsync)
        {
            await ((IAsyncDisposable)item).DisposeAsync();
        }
        else
        {
            item.Dispose();
        }
    }

    private sealed class CommandRecorder : DbCommandInterceptor
    {
        internal List<int> Timeouts { get; } = [];

        public override DbCommand CommandInitialized(CommandEndEventData eventData, DbCommand result)
        {
            Timeouts.Add(result.CommandTimeout);
            return result;
        }
    }

    private sealed class FailingOpener : DbConnectionInterceptor
    {
        internal bool Fails { get; set; }

        public override void ConnectionOpened(DbConnection connection, ConnectionEndEventData eventData)
        {
            if (Fails)
            {
                throw new TimeZoneNotFoundException();
            }
        }

        public override Task ConnectionOpenedAsync(
            DbConnection connection, ConnectionEndEventData eventData, CancellationToken cancellationToken = default)
        {
            ConnectionOpened(connection, eventData);
            return Task.CompletedTask;
        }
    }
}
