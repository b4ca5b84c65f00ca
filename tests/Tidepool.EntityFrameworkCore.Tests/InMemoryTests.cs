using Microsoft.Data.Sqlite;
using Microsoft.EntityFrameworkCore;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Databases of SQLite in memory, as tests of programs use them.</summary>
public sealed class InMemoryTests
{
    [Fact]
    public async Task A_shared_database_in_memory_lives_while_the_program_holds_a_connection()
    {
        string text = $"Data Source=shared-{Guid.NewGuid():N};Mode=Memory;Cache=Shared";
        await using var keeper = new SqliteConnection(text + ";Pooling=false");
        await keeper.OpenAsync();
        await using var source = new PooledDbDataSource(SqliteFactory.Instance, text, new() { Pool = new() { MaxSize = 2 } });
        DbContextOptions<ShopContext> options = Options(source);
        await using (var context = new ShopContext(options))
        {
            Assert.True(await context.Database.EnsureCreatedAsync());
            Shop.Fill(context);
            await context.SaveChangesAsync();
        }

        await using var one = new ShopContext(options);
        await using var other = new ShopContext(options);
        await one.Database.OpenConnectionAsync();
        await other.Database.OpenConnectionAsync();
        Assert.Equal(2, source.GetStatistics().Leased);
        Assert.Equal((5, 15), (await one.Customers.CountAsync(), await other.Orders.CountAsync()));
    }

    [Fact]
    public async Task A_private_database_in_memory_is_refused_where_it_would_be_lost()
    {
        foreach (string text in new[] { "Data Source=:memory:", "Data Source=mine;Mode=Memory" })
        {
            await using var source = new PooledDbDataSource(SqliteFactory.Instance, text);
            await using var context = new ShopContext(Options(source));
            InvalidOperationException refusal = Assert.Throws<InvalidOperationException>(() => context.Database.EnsureCreated());
            Assert.Contains("Mode=Memory;Cache=Shared", refusal.Message, StringComparison.Ordinal);
            await Assert.ThrowsAsync<InvalidOperationException>(() => context.Database.MigrateAsync());
            Assert.Equal(1, (await context.Database.SqlQuery<int>($"SELECT 1 AS \"Value\"").ToListAsync()).Single());
        }
    }

    private static DbContextOptions<ShopContext> Options(PooledDbDataSource source) =>
        new DbContextOptionsBuilder<ShopContext>().UseSqlite().UseTidepool(source).Options;
}
