using System.Data.Common;
using Microsoft.EntityFrameworkCore;

namespace Tidepool.Data.Tests.Support;

/// <summary>A database for one test, of one provider.</summary>
internal abstract class TestDatabase : IAsyncDisposable
{
    /// <summary>Whether sessions are processes of a server, which may be killed.</summary>
    internal abstract bool HasServer { get; }

    internal abstract string ConnectionString { get; }

    /// <summary>What is different from run to run in texts: the folder, or the name of the database.</summary>
    internal abstract string Place { get; }

    internal abstract PooledDbDataSource NewPool(PooledDbOptions? options = null);

    /// <summary>Chooses the provider: with its own pool, or without a connection.</summary>
    internal abstract void UseProvider(DbContextOptionsBuilder builder, string? connectionString = null, bool retries = false);

    internal void UseProvidersPool(DbContextOptionsBuilder builder) => UseProvider(builder, ConnectionString);

    /// <summary>Ends a session from outside, as an administrator does.</summary>
    internal abstract Task KillAsync(DbConnection native);

    public abstract ValueTask DisposeAsync();

    internal PooledDbDataSource NewPool(int maxSize) =>
        NewPool(new PooledDbOptions { Pool = new() { MaxSize = maxSize, RentTimeout = TimeSpan.FromSeconds(20) } });

    internal DbContextOptions<ShopContext> Options(PooledDbDataSource source, Action<DbContextOptionsBuilder>? more = null)
    {
        var builder = new DbContextOptionsBuilder<ShopContext>();
        UseProvider(builder);
        builder.UseTidepool(source);
        more?.Invoke(builder);
        return builder.Options;
    }

    /// <summary>Makes the tables, and rows that tests ask for.</summary>
    internal virtual async Task FillAsync()
    {
        var builder = new DbContextOptionsBuilder<ShopContext>();
        UseProvidersPool(builder);
        await using var context = new ShopContext(builder.Options);
        await context.Database.EnsureCreatedAsync();
        Shop.Fill(context);
        await context.SaveChangesAsync();
    }
}
