using System.Buffers;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Tidepool.Data;
using Microsofts = Microsoft.Extensions.ObjectPool;

namespace Tidepool;

/// <summary>Registers pools with a program's services: one call for each pool, by name.</summary>
/// <remarks>
/// <para>Each pool is a singleton with its name as the key; the first one of a type is also the one without a key. Its options come from
/// <c>Tidepool:Pools:NAME</c> and then from code, and are checked when the host starts: a wrong one stops it, and the message names the
/// key, the value and the range. Without a configuration the code's stand alone.</para>
/// <para>The container ends the pools that it has made, in both ways of its disposal. For use at the start of a program, by one
/// thread.</para>
/// </remarks>
public sealed class TidepoolBuilder
{
    private readonly HashSet<string> _names = new(StringComparer.OrdinalIgnoreCase); // as keys of a configuration are

    private readonly List<string> _hosted = [];

    internal TidepoolBuilder(IServiceCollection services) => Services = services;

    /// <summary>The program's services.</summary>
    public IServiceCollection Services { get; }

    /// <summary>The names of all pools.</summary>
    internal IReadOnlyCollection<string> Names => _names;

    /// <summary>The pools that a host starts and stops: each name is the key of a <see cref="HostedPool"/>.</summary>
    internal IReadOnlyList<string> Hosted => _hosted;

    /// <summary>Registers a <see cref="BufferPool{T}"/>.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="name">The pool's name.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <param name="source">What makes the buffers; null for arrays of the collector's heap.</param>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddBufferPool<T>(
        string name, Action<BufferPoolSection>? configure = null, Func<IServiceProvider, BufferSource<T>>? source = null)
    {
        TakeName(name);
        PoolSections.Add(Services, name, PoolSections.Bind, configure, section => section.Check<T>(name, hasSource: source is not null));
        return Add(name, services => BufferPool<T>.Create(
            PoolSections.Get<BufferPoolSection>(services, name).ToOptions(name, source?.Invoke(services))));
    }

    /// <summary>Registers a <see cref="MemoryPool{T}"/> with the <see cref="BufferPool{T}"/> that it rents from.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="name">The name of both.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <param name="source">What makes the buffers; null for arrays of the collector's heap.</param>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddMemoryPool<T>(
        string name, Action<BufferPoolSection>? configure = null, Func<IServiceProvider, BufferSource<T>>? source = null)
    {
        AddBufferPool(name, configure, source);
        return Add<MemoryPool<T>>(name, services => services.GetRequiredKeyedService<BufferPool<T>>(name).AsMemoryPool());
    }

    /// <summary>Registers an <see cref="ObjectPool{T}"/>, also as one of Microsoft.Extensions.ObjectPool.</summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="name">The pool's name.</param>
    /// <param name="create">Makes an object; thread-safe. It gets the services of the whole program.</param>
    /// <param name="reset">Makes a returned object as good as new, or says false: then it is destroyed. Null resets objects that
    /// implement <see cref="IResettable"/>.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> is null.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddObjectPool<T>(
        string name, Func<IServiceProvider, T> create, Func<T, bool>? reset = null, Action<ObjectPoolSection>? configure = null)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(create);
        TakeName(name);
        PoolSections.Add(Services, name, PoolSections.Bind, configure, section => section.ToOptions(name).Validate());
        Add(name, services => ObjectPool<T>.Create(
            () => create(services), reset, PoolSections.Get<ObjectPoolSection>(services, name).ToOptions(name)));
        return Add<Microsofts.ObjectPool<T>>(
            name, services => services.GetRequiredKeyedService<ObjectPool<T>>(name).AsMicrosoftPool());
    }

    /// <summary>
    /// Registers this library as the program's <see cref="Microsofts.ObjectPoolProvider"/>, in place of one that it has.
    /// </summary>
    /// <param name="options">What each pool of it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public TidepoolBuilder AddObjectPools(ObjectPoolOptions? options = null)
    {
        options?.Validate();
        Services.Replace(ServiceDescriptor.Singleton<Microsofts.ObjectPoolProvider>(new TidepoolObjectPools(options)));
        return this;
    }

    /// <summary>
    /// Registers <see cref="PooledMemoryStreamOptions"/>, which <see cref="PooledMemoryStream.Rent(PooledMemoryStreamOptions)"/> takes.
    /// </summary>
    /// <param name="name">Their name.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddStreamPool(string name, Action<StreamPoolSection>? configure = null)
    {
        TakeName(name);
        PoolSections.Add(Services, name, PoolSections.Bind, configure, static section => section.ToOptions().Validate());
        return Add(name, services => PoolSections.Get<StreamPoolSection>(services, name).ToOptions());
    }

    /// <summary>Registers a <see cref="ResourcePool{T}"/>.</summary>
    /// <typeparam name="T">The resource.</typeparam>
    /// <param name="name">The pool's name.</param>
    /// <param name="policy">Gives how resources are made and looked after; called once.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <exception cref="ArgumentNullException"><paramref name="policy"/> is null.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddResourcePool<T>(
        string name, Func<IServiceProvider, ResourcePolicy<T>> policy, Action<ResourcePoolSection>? configure = null)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(policy);
        TakeName(name);
        PoolSections.Add(Services, name, PoolSections.Bind, configure, section =>
        {
            section.ToOptions(name, null).Validate();
            section.CheckHosted();
        });
        Add(name, services => new ResourcePool<T>(
            policy(services), PoolSections.Get<ResourcePoolSection>(services, name).ToOptions(name, services)));
        return AddHosted<ResourcePoolSection, ResourcePool<T>>(name, static (section, pool) => new HostedResourcePool<T>(section, pool));
    }

    /// <summary>Registers a <see cref="KeyedResourcePool{TKey, T}"/>.</summary>
    /// <typeparam name="TKey">The key, such as an endpoint.</typeparam>
    /// <typeparam name="T">The resource.</typeparam>
    /// <param name="name">The pool's name.</param>
    /// <param name="policy">Gives how the resources of a key are made and looked after; called for each new key.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <param name="comparer">Says which keys are the same; null for the default of the type.</param>
    /// <param name="maxSizeOf">The most resources of a key; null, or a result of null, for the section's <c>MaxSize</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="policy"/> is null.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddKeyedResourcePool<TKey, T>(
        string name,
        Func<IServiceProvider, TKey, ResourcePolicy<T>> policy,
        Action<KeyedResourcePoolSection>? configure = null,
        IEqualityComparer<TKey>? comparer = null,
        Func<TKey, int?>? maxSizeOf = null)
        where TKey : notnull
        where T : class
    {
        ArgumentNullException.ThrowIfNull(policy);
        TakeName(name);
        PoolSections.Add(Services, name, PoolSections.Bind, configure, section =>
        {
            section.ToOptions<TKey>(name, null).Validate();
            section.CheckHosted();
        });
        Add(name, services => new KeyedResourcePool<TKey, T>(
            key => policy(services, key),
            PoolSections.Get<KeyedResourcePoolSection>(services, name).ToOptions(name, services, comparer, maxSizeOf)));
        return AddHosted<KeyedResourcePoolSection, KeyedResourcePool<TKey, T>>(
            name, static (section, pool) => new HostedKeyedPool<TKey, T>(section, pool));
    }

    /// <summary>Registers a <see cref="PooledDbDataSource"/>, also as the <see cref="DbDataSource"/> that it is.</summary>
    /// <param name="name">The pool's name.</param>
    /// <param name="provider">The provider's factory, such as <c>NpgsqlFactory.Instance</c>.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <remarks>The connection string is that of the section, else <c>ConnectionStrings:NAME</c>.</remarks>
    /// <exception cref="ArgumentNullException"><paramref name="provider"/> is null.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddDbDataSource(string name, DbProviderFactory provider, Action<DbPoolSection>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(provider);
        return AddDb(name, configure, (services, section, options) => new PooledDbDataSource(
            provider, section.ConnectionString ?? FindConnectionString(services, name), options));
    }

    /// <summary>Registers a <see cref="PooledDbDataSource"/> over a data source, whose own pooling is off.</summary>
    /// <param name="name">The pool's name.</param>
    /// <param name="inner">Makes where the connections come from; called once, and disposed with the pool.</param>
    /// <param name="configure">Sets options in code, after the configuration; or null.</param>
    /// <exception cref="ArgumentNullException"><paramref name="inner"/> is null.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space, or another pool has it.</exception>
    public TidepoolBuilder AddDbDataSource(
        string name, Func<IServiceProvider, DbDataSource> inner, Action<DbPoolSection>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(inner);
        return AddDb(name, configure, (services, _, options) => new PooledDbDataSource(inner(services), options));
    }

    private TidepoolBuilder AddDb(
        string name,
        Action<DbPoolSection>? configure,
        Func<IServiceProvider, DbPoolSection, PooledDbOptions, PooledDbDataSource> make)
    {
        TakeName(name);
        PoolSections.Add(Services, name, PoolSections.Bind, configure, section =>
        {
            section.ToDbOptions(name, null).Validate();
            section.CheckHosted();
        });
        Add(name, services =>
        {
            DbPoolSection section = PoolSections.Get<DbPoolSection>(services, name);
            return make(services, section, section.ToDbOptions(name, services));
        });
        Add<DbDataSource>(name, services => services.GetRequiredKeyedService<PooledDbDataSource>(name));
        return AddHosted<DbPoolSection, PooledDbDataSource>(name, static (section, pool) => new HostedDbPool(section, pool));
    }

    private static string FindConnectionString(IServiceProvider services, string name) =>
        services.GetService<IConfiguration>()?.GetConnectionString(name) ?? throw new InvalidOperationException(
            $"Pool '{name}' has no connection string. Set {PoolSections.KeyOf(name)}:{nameof(DbPoolSection.ConnectionString)} or "
            + $"ConnectionStrings:{name}, or set it in code.");

    /// <summary>Registers a pool by its name, and the first of its type also without one.</summary>
    private TidepoolBuilder Add<TPool>(string name, Func<IServiceProvider, TPool> make)
        where TPool : class
    {
        Services.AddKeyedSingleton(name, (services, _) => make(services));
        Services.TryAddSingleton(services => services.GetRequiredKeyedService<TPool>(name));
        return this;
    }

    /// <summary>Has the host start and stop a pool, and health checks find it.</summary>
    private TidepoolBuilder AddHosted<[DynamicallyAccessedMembers(PoolSections.Made)] TSection, TPool>(
        string name, Func<TSection, TPool, HostedPool> make)
        where TSection : ResourcePoolSection
        where TPool : notnull
    {
        _hosted.Add(name);
        Services.AddKeyedSingleton(name, (services, _) => make(
            PoolSections.Get<TSection>(services, name), services.GetRequiredKeyedService<TPool>(name)));
        Services.AddKeyedSingleton(name, (services, _) => new PoolHealthCheck(services.GetRequiredKeyedService<HostedPool>(name)));
        return this;
    }

    private void TakeName(string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        if (name.Contains(':', StringComparison.Ordinal))
        {
            throw new ArgumentException(
                $"The name is '{name}'; allowed is any text without ':', which ends a key of a configuration.", nameof(name));
        }

        if (!_names.Add(name))
        {
            throw new ArgumentException($"A pool is registered as '{name}' already; each has a name of its own.", nameof(name));
        }
    }
}
