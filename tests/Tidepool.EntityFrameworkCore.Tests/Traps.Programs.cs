using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Diagnostics;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Migrations;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <content>What a program puts beside the pool: interceptors, services of its own, several pools.</content>
internal static partial class Traps
{
    public static async Task Interceptors_that_fail_before_or_after_ours_cost_no_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        foreach (bool isFirst in new[] { true, false })
        {
            var failing = new FailingInterceptor();
            DbContextOptions<ShopContext> options = isFirst
                ? WithOwnServices(database, source, failing)
                : database.Options(source, builder => builder.AddInterceptors(failing));
            foreach (string where in FailingInterceptor.Places)
            {
                await using (var context = new ShopContext(options))
                {
                    failing.Place = where;
                    await Assert.ThrowsAsync<TimeZoneNotFoundException>(() => UseAsync(context));
                    failing.Place = null;
                    if (!where.StartsWith("TransactionSt", StringComparison.Ordinal)) // Entity Framework has its connection open then
                    {
                        await UseAsync(context);
                        Assert.True(source.GetStatistics().Leased == 0, $"kept after {where}, first: {isFirst}");
                    }
                }

                Assert.Equal(0, source.GetStatistics().Leased);
                await using var next = new ShopContext(options);
                await UseAsync(next);
            }
        }
    }

    public static async Task A_reader_that_is_left_open_by_other_code_never_reaches_the_next_renter(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        var failing = new FailingInterceptor { Place = nameof(IDbCommandInterceptor.ReaderExecuted) };
        await using var context = new ShopContext(database.Options(source, builder => builder.AddInterceptors(failing)));
        await Assert.ThrowsAsync<TimeZoneNotFoundException>(async () => await context.Orders.ToListAsync());

        failing.Place = null;
        await using (PooledDbConnection next = await source.OpenConnectionAsync())
        {
            await using DbCommand command = next.CreateCommand();
            command.CommandText = "DROP TABLE \"Orders\""; // refused while a statement that reads it is under way
            await command.ExecuteNonQueryAsync();
        }

        GC.KeepAlive(failing.Left);
    }

    public static async Task A_logger_that_fails_at_the_end_of_a_context_costs_no_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        foreach (bool isAsync in new[] { false, true })
        {
            var context = new ShopContext(database.Options(source, static builder => builder.LogTo(
                static (id, _) => id == RelationalEventId.TransactionDisposed,
                static _ => throw new TimeZoneNotFoundException())));
            _ = isAsync ? await context.Database.BeginTransactionAsync() : context.Database.BeginTransaction();
            Assert.Equal(5, await context.Customers.CountAsync());
            await Assert.ThrowsAsync<TimeZoneNotFoundException>(() => EndAsync(context, isAsync).AsTask());
            Assert.Equal(0, source.GetStatistics().Leased);
            await using var next = new ShopContext(database.Options(source));
            Assert.Equal(5, await next.Customers.CountAsync());
        }
    }

    public static async Task A_statement_that_another_interceptor_refused_hides_none_that_runs(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        var failing = new FailingInterceptor();
        var context = new ShopContext(WithOwnServices(database, source, failing));
        await context.Database.OpenConnectionAsync();
        failing.Place = nameof(IDbCommandInterceptor.ReaderExecuting);
        Assert.Throws<TimeZoneNotFoundException>(() => context.Orders.ToList());
        failing.Place = null;
        IEnumerator<Order> orders = context.Orders.AsNoTracking().AsEnumerable().GetEnumerator();
        Assert.True(orders.MoveNext());
        context.Dispose();

        await using var next = new ShopContext(database.Options(source));
        Assert.Equal(5, await next.Customers.CountAsync());
        Assert.Equal(2, source.GetStatistics().Created); // the one with the open reader was not rented again
    }

    public static async Task A_creation_that_fails_in_the_middle_renews_the_sessions_too(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        foreach (bool isAsync in new[] { false, true })
        {
            await using var context = new ShopContext(database.Options(source, static builder => builder
                .UseSeeding(static (_, _) => throw new TimeZoneNotFoundException())
                .UseAsyncSeeding(static (_, _, _) => throw new TimeZoneNotFoundException())));
            Assert.Equal(5, await context.Customers.CountAsync());
            Assert.Equal(1, source.GetStatistics().Total);
            await Assert.ThrowsAsync<TimeZoneNotFoundException>(
                async () => _ = isAsync ? await context.Database.EnsureCreatedAsync() : context.Database.EnsureCreated());
            Assert.Equal(0, source.GetStatistics().Idle);
            Assert.Equal(5, await context.Customers.CountAsync());
        }
    }

    public static async Task A_migrator_of_the_program_works_outside_of_the_pool_too(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using (var context = new ShopContext(WithOwnServices(database, source, new FailingInterceptor())))
        {
            await context.Database.MigrateAsync();
            Assert.Equal(0, source.GetStatistics().Created);
            Assert.Equal(1, await context.Database.ExecuteSqlRawAsync("INSERT INTO \"Remark\" VALUES (1)"));
            context.Database.Migrate();
            Assert.Equal(0, source.GetStatistics().Idle); // renewed
            Assert.Equal(5, await context.Customers.CountAsync());
        }

        var late = new DbContextOptionsBuilder<ShopContext>();
        database.UseProvider(late);
        late.UseTidepool(source).ReplaceService<IMigrator, OwnMigrator>();
        string message = Assert.Throws<InvalidOperationException>(() => new ShopContext(late.Options)).Message;
        Assert.Contains("call ReplaceService<IMigrator, OwnMigrator>() before UseTidepool", message, StringComparison.Ordinal);
    }

    public static async Task A_creator_of_the_program_works_outside_of_the_pool_too(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(WithOwnServices(database, source, new FailingInterceptor()));
        Assert.False(context.Database.EnsureCreated());
        Assert.False(await context.Database.EnsureCreatedAsync());
        Assert.Equal(0, source.GetStatistics().Created);
        Assert.Equal(5, await context.Customers.CountAsync());
        Assert.True(context.Database.EnsureDeleted());
        Assert.Equal(0, source.GetStatistics().Idle); // renewed
    }

    public static async Task Two_pools_serve_the_contexts_of_one_container(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource one = database.NewPool(1);
        await using PooledDbDataSource other = database.NewPool(2);
        await using ServiceProvider services = new ServiceCollection()
            .AddDbContext<ShopContext>(builder => Choose(builder, one))
            .AddDbContextFactory<OtherContext>(builder => Choose(builder, other))
            .BuildServiceProvider();
        for (int i = 0; i < 3; i++)
        {
            await using AsyncServiceScope scope = services.CreateAsyncScope();
            ShopContext shop = scope.ServiceProvider.GetRequiredService<ShopContext>();
            await using OtherContext tables = await scope.ServiceProvider
                .GetRequiredService<IDbContextFactory<OtherContext>>().CreateDbContextAsync();
            await shop.Database.OpenConnectionAsync();
            await tables.Database.OpenConnectionAsync();
            Assert.Equal((1, 1), (one.GetStatistics().Leased, other.GetStatistics().Leased));
            Assert.Equal(5, await shop.Customers.CountAsync());
            Assert.Equal(6, (await tables.Database.SqlQuery<int>($"SELECT 6 AS \"Value\"").ToListAsync()).Single());
        }

        Assert.Equal((0, 0), (one.GetStatistics().Leased, other.GetStatistics().Leased));
        Assert.Equal((1, 1), (one.GetStatistics().Created, other.GetStatistics().Created));

        // One kind of context on both: they share the services of Entity Framework, and each has its own pool.
        await using var first = new ShopContext(database.Options(one));
        await using var second = new ShopContext(database.Options(other));
        await first.Database.OpenConnectionAsync();
        await second.Database.OpenConnectionAsync();
        Assert.Equal((1, 1), (one.GetStatistics().Leased, other.GetStatistics().Leased));

        void Choose(DbContextOptionsBuilder builder, PooledDbDataSource source)
        {
            database.UseProvider(builder);
            builder.UseTidepool(source);
        }
    }

    /// <summary>
    /// Options with an interceptor before ours, and with services of the program in place of the provider's. All in one: a process may have
    /// twenty sets of services of Entity Framework.
    /// </summary>
    private static DbContextOptions<ShopContext> WithOwnServices(
        TestDatabase database, PooledDbDataSource source, IInterceptor interceptor)
    {
        var builder = new DbContextOptionsBuilder<ShopContext>();
        database.UseProvider(builder);
        ((IDbContextOptionsBuilderInfrastructure)builder).AddOrUpdateExtension(new Injected(interceptor));
        builder.ReplaceService<IMigrator, OwnMigrator>().ReplaceService<IRelationalDatabaseCreator, OwnCreator>()
            .UseTidepool(source).UseTidepool(source); // twice is as once
        return builder.Options;
    }

    private static async Task UseAsync(ShopContext context)
    {
        context.ChangeTracker.Clear();
        Assert.NotEmpty(await context.Orders.AsNoTracking().ToListAsync());
        await using IDbContextTransaction transaction = await context.Database.BeginTransactionAsync();
        Assert.Equal(1, await context.Database.ExecuteSqlRawAsync("UPDATE \"Customers\" SET \"Version\" = 1 WHERE \"Id\" = 1"));
        await transaction.CommitAsync();
    }

    [SuppressMessage("Performance", "CA1812", Justification = "Made by the container.")]
    private sealed class OtherContext(DbContextOptions<OtherContext> options) : DbContext(options);

    [SuppressMessage("Performance", "CA1812", Justification = "Made by Entity Framework.")]
    [SuppressMessage("Usage", "EF1001", Justification = "What a program may do.")]
    private sealed class OwnMigrator(IRelationalDatabaseCreator creator, IRelationalConnection connection, IMigrationsAssembly migrations)
        : IMigrator
    {
        public void Migrate(string? targetMigration = null)
        {
            Assert.True(creator.Exists());
            connection.Open();
            string id = connection.DbConnection is Npgsql.NpgsqlConnection ? "serial" : "integer";
            using (DbCommand command = connection.DbConnection.CreateCommand())
            {
                command.CommandText = $"CREATE TABLE IF NOT EXISTS \"Remark\" (\"Id\" {id} PRIMARY KEY)";
                command.ExecuteNonQuery();
            }

            connection.Close();
        }

        public Task MigrateAsync(string? targetMigration = null, CancellationToken cancellationToken = default)
        {
            Migrate(targetMigration);
            return Task.CompletedTask;
        }

        public string GenerateScript(
            string? fromMigration = null,
            string? toMigration = null,
            MigrationsSqlGenerationOptions options = MigrationsSqlGenerationOptions.Default) => string.Empty;

        public bool HasPendingModelChanges() => migrations.Migrations.Count == 0;
    }

    /// <summary>Finds a database by opening it, and deletes none.</summary>
    [SuppressMessage("Performance", "CA1812", Justification = "Made by Entity Framework.")]
    private sealed class OwnCreator(RelationalDatabaseCreatorDependencies dependencies) : RelationalDatabaseCreator(dependencies)
    {
        public override bool Exists()
        {
            Dependencies.Connection.Open();
            Dependencies.Connection.Close();
            return true;
        }

        public override bool HasTables() => true;

        public override void Create() => throw new NotSupportedException();

        public override void Delete()
        {
            // For the test of who asks for it.
        }
    }

    /// <summary>Has an interceptor in the services of Entity Framework, in the order of the options.</summary>
    private sealed class Injected(IInterceptor interceptor) : IDbContextOptionsExtension
    {
        public DbContextOptionsExtensionInfo Info => new OfInterceptor(this);

        public void ApplyServices(IServiceCollection services) => services.AddScoped(
            static provider => provider.GetRequiredService<IDbContextOptions>().FindExtension<Injected>()!.Get());

        public void Validate(IDbContextOptions options)
        {
            // Nothing is wrong with it.
        }

        private IInterceptor Get() => interceptor;

        private sealed class OfInterceptor(IDbContextOptionsExtension extension) : DbContextOptionsExtensionInfo(extension)
        {
            public override bool IsDatabaseProvider => false;

            public override string LogFragment => string.Empty;

            public override int GetServiceProviderHashCode() => 0;

            public override bool ShouldUseSameServiceProvider(DbContextOptionsExtensionInfo other) => other is OfInterceptor;

            public override void PopulateDebugInfo(IDictionary<string, string> debugInfo)
            {
                // Nothing to say.
            }
        }
    }

    /// <summary>Fails in one place.</summary>
    private sealed class FailingInterceptor : IDbConnectionInterceptor, IDbCommandInterceptor, IDbTransactionInterceptor
    {
        internal static readonly string[] Places =
        [
            nameof(ConnectionOpeningAsync), nameof(ConnectionOpenedAsync), nameof(ConnectionClosingAsync), nameof(ConnectionClosedAsync),
            nameof(ReaderExecuting), nameof(ReaderExecuted), nameof(NonQueryExecutingAsync), nameof(NonQueryExecutedAsync),
            nameof(TransactionStartingAsync), nameof(TransactionStartedAsync), nameof(TransactionCommittingAsync),
        ];

        /// <summary>Where it fails, or null.</summary>
        internal string? Place { get; set; }

        /// <summary>The reader that was open when it failed.</summary>
        internal DbDataReader? Left { get; private set; }

        public ValueTask<InterceptionResult> ConnectionOpeningAsync(
            DbConnection connection,
            ConnectionEventData eventData,
            InterceptionResult result,
            CancellationToken cancellationToken = default)
        {
            Fail(nameof(ConnectionOpeningAsync));
            return new(result);
        }

        public Task ConnectionOpenedAsync(
            DbConnection connection, ConnectionEndEventData eventData, CancellationToken cancellationToken = default)
        {
            Fail(nameof(ConnectionOpenedAsync));
            return Task.CompletedTask;
        }

        public ValueTask<InterceptionResult> ConnectionClosingAsync(
            DbConnection connection, ConnectionEventData eventData, InterceptionResult result)
        {
            Fail(nameof(ConnectionClosingAsync));
            return new(result);
        }

        public Task ConnectionClosedAsync(DbConnection connection, ConnectionEndEventData eventData)
        {
            Fail(nameof(ConnectionClosedAsync));
            return Task.CompletedTask;
        }

        public InterceptionResult<DbDataReader> ReaderExecuting(
            DbCommand command, CommandEventData eventData, InterceptionResult<DbDataReader> result)
        {
            Fail(nameof(ReaderExecuting));
            return result;
        }

        public ValueTask<InterceptionResult<DbDataReader>> ReaderExecutingAsync(
            DbCommand command,
            CommandEventData eventData,
            InterceptionResult<DbDataReader> result,
            CancellationToken cancellationToken = default) => new(ReaderExecuting(command, eventData, result));

        public ValueTask<DbDataReader> ReaderExecutedAsync(
            DbCommand command, CommandExecutedEventData eventData, DbDataReader result, CancellationToken cancellationToken = default)
        {
            Left = result;
            Fail(nameof(ReaderExecuted));
            return new(result);
        }

        public DbDataReader ReaderExecuted(DbCommand command, CommandExecutedEventData eventData, DbDataReader result) => result;

        public ValueTask<InterceptionResult<int>> NonQueryExecutingAsync(
            DbCommand command, CommandEventData eventData, InterceptionResult<int> result, CancellationToken cancellationToken = default)
        {
            Fail(nameof(NonQueryExecutingAsync));
            return new(result);
        }

        public ValueTask<int> NonQueryExecutedAsync(
            DbCommand command, CommandExecutedEventData eventData, int result, CancellationToken cancellationToken = default)
        {
            Fail(nameof(NonQueryExecutedAsync));
            return new(result);
        }

        public ValueTask<InterceptionResult<DbTransaction>> TransactionStartingAsync(
            DbConnection connection,
            TransactionStartingEventData eventData,
            InterceptionResult<DbTransaction> result,
            CancellationToken cancellationToken = default)
        {
            Fail(nameof(TransactionStartingAsync));
            return new(result);
        }

        public ValueTask<DbTransaction> TransactionStartedAsync(
            DbConnection connection, TransactionEndEventData eventData, DbTransaction result, CancellationToken cancellationToken = default)
        {
            Fail(nameof(TransactionStartedAsync));
            return new(result);
        }

        public ValueTask<InterceptionResult> TransactionCommittingAsync(
            DbTransaction transaction,
            TransactionEventData eventData,
            InterceptionResult result,
            CancellationToken cancellationToken = default)
        {
            Fail(nameof(TransactionCommittingAsync));
            return new(result);
        }

        private void Fail(string place)
        {
            if (Place == place)
            {
                throw new TimeZoneNotFoundException();
            }
        }
    }
}
