using System.Data.Common;
using Microsoft.Data.Sqlite;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;
using Tidepool.Data;

namespace Samples;

/// <summary>Contexts of Entity Framework Core on the sessions of a pool: one line in the options, and nothing else changes.</summary>
public static class ContextsOverPool
{
    public static async Task RunAsync(string file, TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await using var source = new PooledDbDataSource(
            SqliteFactory.Instance,
            $"Data Source={file}",
            new PooledDbOptions { Pool = new() { Name = "shop", MaxSize = 4 } });

        await using ServiceProvider services = new ServiceCollection()
            .AddDbContextPool<ShopContext>(options => options.UseSqlite().UseTidepool(source))
            .BuildServiceProvider();

        await using (AsyncServiceScope scope = services.CreateAsyncScope())
        {
            ShopContext context = scope.ServiceProvider.GetRequiredService<ShopContext>();
            await context.Database.EnsureCreatedAsync();
            context.Orders.Add(new Order { What = "coffee", Price = 2.75m });
            context.Orders.Add(new Order { What = "cake", Price = 11.5m });
            await context.SaveChangesAsync();
            await console.WriteLineAsync(string.Join(", ", context.Orders.Where(o => o.Price > 3m).Select(o => o.What)));
            await console.WriteLineAsync($"between two operations: {source.GetStatistics().Leased} rented");

            await using (IDbContextTransaction transaction = await context.Database.BeginTransactionAsync())
            {
                await context.Orders.ExecuteUpdateAsync(orders => orders.SetProperty(o => o.Price, o => o.Price + 1m));
                await console.WriteLineAsync($"inside a transaction: {source.GetStatistics().Leased} rented");
                await transaction.CommitAsync();
            }

            await context.Database.OpenConnectionAsync();
            await using (DbCommand command = context.Database.GetDbConnection().CreateCommand())
            {
                command.CommandText = "SELECT count(*) FROM Orders";
                await console.WriteLineAsync($"by hand: {await command.ExecuteScalarAsync()} orders");
            }

            await context.Database.CloseConnectionAsync();
        }

        await console.WriteLineAsync($"at the end: {source.GetStatistics().Leased} rented");
    }

    private sealed class Order
    {
        public int Id { get; set; }

        public required string What { get; set; }

        public decimal Price { get; set; }
    }

    private sealed class ShopContext(DbContextOptions<ShopContext> options) : DbContext(options)
    {
        public DbSet<Order> Orders => Set<Order>();
    }
}
