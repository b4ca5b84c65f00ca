using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using Tidepool.Data;

namespace Samples;

/// <summary>
/// Entity Framework Core over a pool: its PostgreSQL provider takes Npgsql's own connections only, so units of work lease one.
/// </summary>
public static class EntityFrameworkOverPool
{
    public static async Task RunAsync(string connectionString, TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await using var source = new PooledDbDataSource(
            NpgsqlFactory.Instance,
            connectionString,
            new PooledDbOptions { Pool = new() { Name = "shop", MaxSize = 4 } });

        await using (DbConnectionLease lease = await source.RentNativeAsync())
        {
            DbContextOptions<ShopContext> options = new DbContextOptionsBuilder<ShopContext>().UseNpgsql(lease.Connection).Options;
            await using var context = new ShopContext(options);
            await context.Database.ExecuteSqlRawAsync(
                "CREATE TABLE shop_orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what text NOT NULL, " +
                "backend int DEFAULT pg_backend_pid())");
            context.Orders.Add(new Order { What = "coffee" });
            await context.SaveChangesAsync();
        }

        await using ServiceProvider services = new ServiceCollection()
            .AddDbContextPool<ShopContext>(static options => options.UseNpgsql())
            .BuildServiceProvider();
        for (int unit = 0; unit < 5; unit++)
        {
            await using AsyncServiceScope scope = services.CreateAsyncScope();
            await WorkAsync(scope.ServiceProvider.GetRequiredService<ShopContext>(), source);
        }

        await using PooledDbConnection connection = await source.OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT count(*) || ' orders, ' || count(DISTINCT backend) || ' session' FROM shop_orders";
        await console.WriteLineAsync((string?)await command.ExecuteScalarAsync());
    }

    private static async Task WorkAsync(ShopContext context, PooledDbDataSource source)
    {
        await using DbConnectionLease lease = await source.RentNativeAsync();
        context.Database.SetDbConnection(lease.Connection);
        try
        {
            context.Orders.Add(new Order { What = "tea" });
            await context.SaveChangesAsync();
        }
        catch (Exception e)
        {
            lease.MarkBroken(e.GetBaseException());
            throw;
        }
        finally
        {
            context.Database.SetDbConnection(null); // the context goes back to its pool without it
        }
    }

    private sealed class Order
    {
        public int Id { get; set; }

        public required string What { get; set; }
    }

    private sealed class ShopContext(DbContextOptions<ShopContext> options) : DbContext(options)
    {
        public DbSet<Order> Orders => Set<Order>();

        protected override void OnModelCreating(ModelBuilder modelBuilder) => modelBuilder.Entity<Order>(static order =>
        {
            order.ToTable("shop_orders");
            order.Property(static o => o.Id).HasColumnName("id");
            order.Property(static o => o.What).HasColumnName("what");
        });
    }
}
