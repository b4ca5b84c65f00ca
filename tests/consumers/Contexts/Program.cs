// Contexts of Entity Framework Core on pooled sessions.
using Microsoft.Data.Sqlite;
using Microsoft.EntityFrameworkCore;
using Tidepool.Data;

string file = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
try
{
    await using (var source = new PooledDbDataSource(SqliteFactory.Instance, $"Data Source={file}"))
    {
        DbContextOptions<Shop> options = new DbContextOptionsBuilder<Shop>().UseSqlite().UseTidepool(source).Options;
        await using (var shop = new Shop(options))
        {
            await shop.Database.EnsureCreatedAsync();
            shop.Add(new Order { Price = 42 });
            await shop.SaveChangesAsync();
        }

        await using (var shop = new Shop(options))
        {
            Console.WriteLine($"an order of {(await shop.Orders.SingleAsync()).Price}, {source.GetStatistics().Leased} sessions rented");
        }
    }
}
finally
{
    File.Delete(file);
}

internal sealed class Order
{
    public int Id { get; set; }

    public int Price { get; set; }
}

internal sealed class Shop(DbContextOptions<Shop> options) : DbContext(options)
{
    public DbSet<Order> Orders => Set<Order>();
}
