using System.ComponentModel.DataAnnotations;
using Microsoft.EntityFrameworkCore;

namespace Tidepool.Data.Tests.Support;

internal sealed class Customer
{
    public int Id { get; set; }

    public required string Name { get; set; }

    public decimal Balance { get; set; }

    [ConcurrencyCheck]
    public int Version { get; set; }

    public List<Order> Orders { get; } = [];

    public List<Tag> Tags { get; } = [];
}

internal sealed class Order
{
    public int Id { get; set; }

    public int CustomerId { get; set; }

    public Customer? Customer { get; set; }

    public required string What { get; set; }

    public decimal Price { get; set; }
}

internal sealed class Tag
{
    public Guid Id { get; set; }

    public required string Text { get; set; }

    public List<Customer> Customers { get; } = [];
}

internal sealed class ShopContext(DbContextOptions<ShopContext> options) : DbContext(options)
{
    public DbSet<Customer> Customers => Set<Customer>();

    public DbSet<Order> Orders => Set<Order>();

    public DbSet<Tag> Tags => Set<Tag>();

    protected override void OnModelCreating(ModelBuilder modelBuilder)
    {
        modelBuilder.Entity<Customer>().HasIndex(static c => c.Name).IsUnique();
        modelBuilder.Entity<Tag>().Property(static t => t.Id).ValueGeneratedNever();
    }
}

/// <summary>The rows that tests begin with.</summary>
internal static class Shop
{
    internal static void Fill(ShopContext context)
    {
        Tag[] tags =
        [
            new Tag { Id = new Guid(1, 0, 0, new byte[8]), Text = "old" },
            new Tag { Id = new Guid(2, 0, 0, new byte[8]), Text = "new" },
        ];
        for (int i = 1; i <= 5; i++)
        {
            var customer = new Customer { Name = $"customer {i}", Balance = (i * 7.5m) - 10 };
            for (int j = 1; j <= i; j++)
            {
                customer.Orders.Add(new Order { What = $"item {j}", Price = (j * 4.25m) + i });
            }

            customer.Tags.Add(tags[i % 2]);
            context.Customers.Add(customer);
        }
    }
}
