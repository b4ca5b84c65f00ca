using System.Buffers;
using System.Data.Common;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.ObjectPool;
using Tidepool.Data;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>Every kind of pool is registered by one call, found by its name or as the first of its type, and ended.</summary>
[Collection("Pools with plain names")] // two live pools never have one name
public sealed class RegistrationTests
{
    static RegistrationTests() => SQLitePCL.Batteries_V2.Init();

    [Fact]
    public async Task Every_kind_of_pool_is_a_keyed_singleton_and_the_first_of_its_type_needs_no_key()
    {
        // Names that no other test has: a second live pool of a name gets a number.
        var services = new ServiceCollection();
        services.AddTidepool()
            .AddBufferPool<byte>("my uploads")
            .AddBufferPool<byte>("my downloads")
            .AddMemoryPool<char>("my texts")
            .AddObjectPool("my lists", static _ => new List<int>(), static list => { list.Clear(); return true; })
            .AddStreamPool("my reports", static section => section.MaxLength = 1000)
            .AddResourcePool("my smtp", static _ => new ClientPolicy(), static section => section.MaxSize = 2)
            .AddKeyedResourcePool<string, Client>(
                "my hosts", static (_, _) => new ClientPolicy(), static section => (section.MaxSize, section.MaxTotal) = (1, 4))
            .AddDbDataSource("my orders", SqliteFactory.Instance, static section => section.ConnectionString = "Data Source=:memory:");
        await using ServiceProvider provider = services.BuildServiceProvider();

        Assert.Equal("my uploads", Same<BufferPool<byte>>(provider, "my uploads").Name);
        Assert.Equal("my downloads", provider.GetRequiredKeyedService<BufferPool<byte>>("my downloads").Name);
        Assert.NotSame(
            provider.GetRequiredKeyedService<BufferPool<byte>>("my uploads"),
            provider.GetRequiredKeyedService<BufferPool<byte>>("my downloads"));
        using (IMemoryOwner<char> memory = Same<MemoryPool<char>>(provider, "my texts").Rent(7))
        {
            Assert.Equal(7, memory.Memory.Length);
            Assert.Equal(1, provider.GetRequiredKeyedService<BufferPool<char>>("my texts").GetStatistics().Leased);
        }

        Assert.Equal("my lists", Same<Tidepool.ObjectPool<List<int>>>(provider, "my lists").Name);
        Microsoft.Extensions.ObjectPool.ObjectPool<List<int>> theirs =
            Same<Microsoft.Extensions.ObjectPool.ObjectPool<List<int>>>(provider, "my lists");
        theirs.Return(theirs.Get());
        Assert.Equal(1, provider.GetRequiredService<Tidepool.ObjectPool<List<int>>>().GetStatistics().Rented);
        Assert.Equal(1000, Same<PooledMemoryStreamOptions>(provider, "my reports").MaxLength);
        using (ResourceLease<Client> client = await Same<ResourcePool<Client>>(provider, "my smtp").RentAsync())
        {
            Assert.False(client.Value.IsDisposed);
        }

        Assert.Equal("my hosts", Same<KeyedResourcePool<string, Client>>(provider, "my hosts").Name);
        Assert.Same(Same<PooledDbDataSource>(provider, "my orders"), Same<DbDataSource>(provider, "my orders"));
        await using DbConnection connection = await provider.GetRequiredService<DbDataSource>().OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT 41 + 1";
        Assert.Equal(42L, await command.ExecuteScalarAsync());
    }

    [Fact]
    public async Task The_connection_string_is_that_of_the_section_or_of_the_usual_place()
    {
        await using ServiceProvider usual = Build(("ConnectionStrings:orders", "Data Source=usual"));
        Assert.Equal("Data Source=usual", usual.GetRequiredService<PooledDbDataSource>().ConnectionString.Split(';')[0]);

        await using ServiceProvider own = Build(
            ("ConnectionStrings:orders", "Data Source=usual"), ("Tidepool:Pools:orders:ConnectionString", "Data Source=own"));
        Assert.Equal("Data Source=own", own.GetRequiredService<PooledDbDataSource>().ConnectionString.Split(';')[0]);

        await using ServiceProvider none = Build();
        InvalidOperationException missing = Assert.Throws<InvalidOperationException>(none.GetRequiredService<PooledDbDataSource>);
        Assert.Equal(
            "Pool 'orders' has no connection string. Set Tidepool:Pools:orders:ConnectionString or ConnectionStrings:orders, "
                + "or set it in code.",
            missing.Message);

        static ServiceProvider Build(params (string Key, string Value)[] settings)
        {
            var services = new ServiceCollection();
            services.AddSingleton<IConfiguration>(new ConfigurationBuilder()
                .AddInMemoryCollection(settings.ToDictionary(static s => s.Key, static s => (string?)s.Value)).Build());
            services.AddTidepool().AddDbDataSource("orders", SqliteFactory.Instance);
            return services.BuildServiceProvider();
        }
    }

    [Fact]
    public void The_provider_of_object_pools_takes_the_place_of_another_before_and_after_it()
    {
        foreach (bool isFirst in (bool[])[true, false])
        {
            var services = new ServiceCollection();
            if (!isFirst)
            {
                services.AddSingleton<ObjectPoolProvider, DefaultObjectPoolProvider>();
            }

            services.AddTidepool().AddObjectPools(new ObjectPoolOptions { Budget = 3 });
            using ServiceProvider provider = services.BuildServiceProvider();
            ObjectPoolProvider pools = Assert.Single(provider.GetServices<ObjectPoolProvider>());
            Assert.IsType<MicrosoftObjectPool<object>>(pools.Create<object>()).Dispose();
        }
    }

    [Fact]
    public async Task A_container_ends_its_pools_when_it_is_disposed_in_either_way()
    {
        foreach (bool isAsync in (bool[])[true, false])
        {
            var services = new ServiceCollection();
            string name = $"ended-{Guid.NewGuid():N}";
            services.AddTidepool()
                .AddBufferPool<byte>(name + "-buffers")
                .AddResourcePool(name, static _ => new ClientPolicy(), static section => section.MaxSize = 2)
                .AddKeyedResourcePool<int, Client>(
                    name + "-keys", static (_, _) => new ClientPolicy(), static section => (section.MaxSize, section.MaxTotal) = (1, 4))
                .AddDbDataSource(name + "-db", SqliteFactory.Instance, static section => section.ConnectionString = "Data Source=:memory:");
            ServiceProvider provider = services.BuildServiceProvider();
            ResourcePool<Client> pool = provider.GetRequiredService<ResourcePool<Client>>();
            KeyedResourcePool<int, Client> keyed = provider.GetRequiredService<KeyedResourcePool<int, Client>>();
            BufferPool<byte> buffers = provider.GetRequiredService<BufferPool<byte>>();
            PooledDbDataSource db = provider.GetRequiredService<PooledDbDataSource>();
            (await pool.RentAsync()).Dispose();
            ResourceLease<Client> held = await pool.RentAsync();
            if (isAsync)
            {
                await provider.DisposeAsync();
            }
            else
            {
                provider.Dispose();
            }

            Assert.Throws<ObjectDisposedException>(() => buffers.Rent(1));
            await Assert.ThrowsAsync<ResourcePoolShutdownException>(async () => await pool.RentAsync());
            await Assert.ThrowsAsync<ResourcePoolShutdownException>(async () => await keyed.RentAsync(1));
            await Assert.ThrowsAsync<PooledDbException>(async () => await db.OpenConnectionAsync());
            Client client = held.Value;
            Assert.False(client.IsDisposed);
            held.Dispose();
            Assert.True(await pool.ShutdownAsync(TimeSpan.FromMinutes(1)));
            Assert.True(client.IsDisposed);
        }
    }

    [Fact]
    public async Task Keys_are_compared_and_sized_as_the_program_says()
    {
        await using ServiceProvider provider = new ServiceCollection()
            .AddTidepool()
            .AddKeyedResourcePool<string, Client>(
                $"hosts {Guid.NewGuid():N}",
                static (_, _) => new ClientPolicy(),
                static section => (section.MaxSize, section.MaxTotal) = (3, 9),
                StringComparer.OrdinalIgnoreCase,
                static key => key == "SMALL" ? 1 : null)
            .Services.BuildServiceProvider();
        KeyedResourcePool<string, Client> pool = provider.GetRequiredService<KeyedResourcePool<string, Client>>();
        using KeyedResourceLease<string, Client> small = await pool.RentAsync("SMALL");
        using KeyedResourceLease<string, Client> large = await pool.RentAsync("large");
        Assert.Equal((1, 3), (pool.GetStatistics("small")?.MaxSize, pool.GetStatistics("LARGE")?.MaxSize));
        Assert.Equal(2, pool.Keys.Count);
    }

    [Fact]
    public void A_name_is_given_once_and_can_be_a_key_of_a_configuration()
    {
        TidepoolBuilder builder = new ServiceCollection().AddTidepool().AddBufferPool<byte>("uploads");
        ArgumentException twice = Assert.Throws<ArgumentException>(() => builder.AddStreamPool("Uploads"));
        Assert.Equal(("name", true), (twice.ParamName, twice.Message.StartsWith("A pool is registered as 'Uploads' already;")));
        Assert.Equal("name", Assert.Throws<ArgumentException>(() => builder.AddStreamPool(" ")).ParamName);
        Assert.Contains("'a:b'", Assert.Throws<ArgumentException>(() => builder.AddStreamPool("a:b")).Message);
        Assert.Same(builder, builder.Services.AddTidepool());
    }

    private static TPool Same<TPool>(ServiceProvider provider, string name)
        where TPool : class
    {
        TPool pool = provider.GetRequiredKeyedService<TPool>(name);
        Assert.Same(pool, provider.GetRequiredService<TPool>());
        return pool;
    }
}
