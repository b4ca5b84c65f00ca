using System.Data.Common;
using System.Transactions;
using Microsoft.EntityFrameworkCore;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Where swapping the connection of a context could go wrong with sessions that are processes of a server.</summary>
internal static class ServerTraps
{
    public static async Task A_session_that_was_killed_is_given_back_at_once(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        await context.Database.OpenConnectionAsync();
        await database.KillAsync(context.Database.GetDbConnection());

        await Assert.ThrowsAnyAsync<Exception>(() => context.Customers.CountAsync());
        Assert.Equal(0, source.GetStatistics().Leased);
        await using (var other = new ShopContext(database.Options(source)))
        {
            Assert.Equal(5, await other.Customers.CountAsync());
        }

        Assert.Equal(5, await context.Customers.CountAsync());
        await context.Database.CloseConnectionAsync();
        Assert.Equal(5, context.Customers.Count());
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task A_session_that_was_killed_inside_a_query_is_given_back(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));
        bool isKilled = false;
        await Assert.ThrowsAnyAsync<Exception>(async () =>
        {
            // More than a buffer, so that the rest has to come from the server after the first rows.
            IQueryable<int> numbers = context.Database.SqlQueryRaw<int>("SELECT n AS \"Value\" FROM generate_series(1, 3000000) n");
            await foreach (int _ in numbers.AsAsyncEnumerable())
            {
                if (source.GetStatistics().Leased == 1 && context.Database.GetDbConnection().State == System.Data.ConnectionState.Open)
                {
                    await KillOnceAsync();
                }
            }
        });
        Assert.Equal(0, source.GetStatistics().Leased);
        Assert.Equal(5, await context.Customers.CountAsync());

        async Task KillOnceAsync()
        {
            if (!isKilled)
            {
                isKilled = true;
                await using DbConnection observer = new NpgsqlConnection(database.ConnectionString + ";Pooling=false");
                await observer.OpenAsync();
                await using DbCommand kill = observer.CreateCommand();
                kill.CommandText = $"SELECT pg_terminate_backend({((NpgsqlConnection)context.Database.GetDbConnection()).ProcessID})";
                await kill.ExecuteScalarAsync();
            }
        }
    }

    public static async Task One_killed_session_renews_all_of_its_time(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(3);
        ShopContext[] contexts = [.. Enumerable.Range(0, 3).Select(_ => new ShopContext(database.Options(source)))];
        foreach (ShopContext context in contexts)
        {
            await context.Database.OpenConnectionAsync();
        }

        await database.KillAsync(contexts[0].Database.GetDbConnection());
        await Assert.ThrowsAnyAsync<Exception>(() => contexts[0].Customers.CountAsync());
        foreach (ShopContext context in contexts)
        {
            await context.DisposeAsync();
        }

        await using var next = new ShopContext(database.Options(source));
        Assert.Equal(5, await next.Customers.CountAsync());
        Assert.Equal(4, source.GetStatistics().Created);
    }

    public static async Task A_strategy_that_tries_again_gets_over_a_killed_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        var builder = new DbContextOptionsBuilder<ShopContext>();
        builder.UseNpgsql(npgsql => npgsql.EnableRetryOnFailure(3, TimeSpan.FromMilliseconds(10), null)).UseTidepool(source);
        await using var context = new ShopContext(builder.Options);
        await context.Database.OpenConnectionAsync();
        DbConnection native = context.Database.GetDbConnection();
        await context.Database.CloseConnectionAsync();
        await database.KillAsync(native);

        context.Customers.Add(new Customer { Name = "again" });
        Assert.Equal(1, await context.SaveChangesAsync());
        Assert.Equal(6, context.Customers.Count());
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task A_save_that_is_cancelled_gives_its_session_back(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        await using var blocker = new NpgsqlConnection(database.ConnectionString + ";Pooling=false");
        await blocker.OpenAsync();
        foreach (bool hasTransaction in new[] { false, true })
        {
            await using NpgsqlTransaction transaction = await blocker.BeginTransactionAsync();
            await using (var hold = new NpgsqlCommand("SELECT 1 FROM \"Customers\" FOR UPDATE", blocker, transaction))
            {
                await hold.ExecuteScalarAsync();
            }

            await using var context = new ShopContext(database.Options(source));
            Customer customer = await context.Customers.OrderBy(static c => c.Id).FirstAsync();
            customer.Name = $"changed {hasTransaction}";
            Microsoft.EntityFrameworkCore.Storage.IDbContextTransaction? own =
                hasTransaction ? await context.Database.BeginTransactionAsync() : null;
            using var stop = new CancellationTokenSource();
            Task<int> saving = context.SaveChangesAsync(stop.Token);
            await WaitUntilBlockedAsync(database); // the statement has reached the server
            await stop.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => saving);
            Assert.Equal(hasTransaction ? 1 : 0, source.GetStatistics().Leased);
            await transaction.RollbackAsync();
            if (own is not null)
            {
                await own.RollbackAsync();
                await own.DisposeAsync();
            }

            Assert.Equal(0, source.GetStatistics().Leased);
            Assert.Equal(1, await context.SaveChangesAsync()); // the same change
            Assert.Equal(5, await context.Customers.CountAsync());

            // Inside a transaction Entity Framework goes back to its savepoint with the cancelled token, after which Npgsql reads the
            // wrong answers on that connection; the reset finds it, and the session ends.
            Assert.InRange(source.GetStatistics().Created, 1, hasTransaction ? 2 : 1);
        }
    }

    private static async Task WaitUntilBlockedAsync(TestDatabase database)
    {
        await using var observer = new NpgsqlConnection(database.ConnectionString + ";Pooling=false");
        await observer.OpenAsync();
        await using var question = new NpgsqlCommand(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()", observer);
        for (long deadline = Environment.TickCount64 + 60_000; await question.ExecuteScalarAsync() is 0L; await Task.Delay(5))
        {
            Assert.True(Environment.TickCount64 < deadline, "the save never waited for the lock");
        }
    }

    public static async Task A_refused_opening_throws_the_providers_exception(TestDatabase database)
    {
        await using PooledDbDataSource source = database.NewPool(1);
        await using var context = new ShopContext(database.Options(source));

        PostgresException refusal = await Assert.ThrowsAsync<PostgresException>(() => context.Customers.CountAsync());
        Assert.Equal("3D000", refusal.SqlState);
    }

    public static async Task An_ambient_transaction_is_refused(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(new PooledDbOptions { IgnoreAmbientTransactions = true });
        await using var context = new ShopContext(database.Options(source));
        using (new TransactionScope(TransactionScopeAsyncFlowOption.Enabled))
        {
            InvalidOperationException refusal = await Assert.ThrowsAsync<InvalidOperationException>(() => context.Customers.CountAsync());
            Assert.Contains("BeginTransaction()", refusal.Message, StringComparison.Ordinal);
        }

        Assert.Equal(5, await context.Customers.CountAsync());
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task A_session_that_was_enlisted_comes_back_when_its_transaction_is_over(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(1);
        using (var transaction = new CommittableTransaction())
        {
            await using (var context = new ShopContext(database.Options(source)))
            {
                await context.Database.OpenConnectionAsync();
                context.Database.EnlistTransaction(transaction);
                context.Customers.Add(new Customer { Name = "enlisted" });
                await context.SaveChangesAsync();
            }

            Assert.Equal(1, source.GetStatistics().Leased);
            transaction.Commit();
        }

        await using var next = new ShopContext(database.Options(source));
        Assert.Equal(6, await next.Customers.CountAsync());
        Assert.Equal(0, source.GetStatistics().Leased);
    }

    public static async Task Created_types_are_known_to_every_session(TestDatabase database)
    {
        await database.FillAsync();
        await using PooledDbDataSource source = database.NewPool(2);
        await using var context = new ShopContext(database.Options(source));
        Assert.Equal(5, await context.Customers.CountAsync()); // a session that knows the types of before
        var builder = new DbContextOptionsBuilder<MoodContext>();
        builder.UseNpgsql().UseTidepool(source);
        await using (var moods = new MoodContext(builder.Options))
        {
            await moods.Database.EnsureDeletedAsync();
            await moods.Database.EnsureCreatedAsync();
        }

        for (int i = 0; i < 2; i++)
        {
            await using PooledDbConnection connection = await source.OpenConnectionAsync();
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 'glad'::mood";
            await using DbDataReader reader = await command.ExecuteReaderAsync();
            Assert.True(await reader.ReadAsync());
            Assert.Equal("public.mood", reader.GetDataTypeName(0));
            Assert.Equal("glad", reader.GetValue(0));
        }
    }

    public static async Task Types_of_the_program_are_those_of_the_inner_source(TestDatabase database)
    {
        var text = new NpgsqlDataSourceBuilder(database.ConnectionString + ";Pooling=false");
        text.MapEnum<Mood>();
        await using NpgsqlDataSource inner = text.Build();
        await using var source = new PooledDbDataSource(inner, new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        var builder = new DbContextOptionsBuilder<MoodContext>();
        builder.UseNpgsql(inner, static npgsql => npgsql.MapEnum<Mood>("mood")).UseTidepool(source);
        await using (var context = new MoodContext(builder.Options))
        {
            Assert.True(await context.Database.EnsureCreatedAsync()); // with the password that only the inner source has
            context.Add(new Day { Mood = Mood.Sad });
            Assert.Equal(1, await context.SaveChangesAsync());
        }

        await using var next = new MoodContext(builder.Options);
        Assert.Equal(Mood.Sad, (await next.Set<Day>().SingleAsync(d => d.Mood == Mood.Sad)).Mood);
        Assert.Equal(1, source.GetStatistics().Created);
        Assert.True(await next.Database.EnsureDeletedAsync());
    }

    internal enum Mood
    {
        Glad,
        Sad,
    }

    internal sealed class Day
    {
        public int Id { get; set; }

        public Mood Mood { get; set; }
    }

    internal sealed class MoodContext(DbContextOptions<MoodContext> options) : DbContext(options)
    {
        protected override void OnModelCreating(ModelBuilder modelBuilder)
        {
            modelBuilder.HasPostgresEnum("mood", ["glad", "sad"]);
            modelBuilder.Entity<Day>();
        }
    }
}
