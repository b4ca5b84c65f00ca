using Microsoft.EntityFrameworkCore.Diagnostics;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Migrations;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Data;

/// <summary>
/// The pool in the options of a context, and the services that rent from it. The services do not depend on the pool: contexts of several
/// pools share them.
/// </summary>
internal sealed class SessionOptionsExtension : IDbContextOptionsExtension
{
    internal SessionOptionsExtension(PooledDbDataSource source)
    {
        Source = source;
        Info = new SessionOptionsInfo(this);
    }

    /// <inheritdoc/>
    public DbContextOptionsExtensionInfo Info { get; }

    internal PooledDbDataSource Source { get; }

    /// <summary>Throws when there is no provider to give sessions to, or when it has a connection already.</summary>
    internal static void Check(IDbContextOptions options)
    {
        RelationalOptionsExtension provider = options.Extensions.OfType<RelationalOptionsExtension>().FirstOrDefault()
            ?? throw new InvalidOperationException(
                "UseTidepool needs a relational provider before it: options.UseNpgsql().UseTidepool(source), for example.");
        if (provider.Connection is not null || provider.ConnectionString is not null)
        {
            throw new InvalidOperationException(
                "The provider has a connection of its own, which UseTidepool(source) would not use: call the provider's method without "
                    + "one, such as options.UseNpgsql().UseTidepool(source). Where the database is, says the source.");
        }
    }

    /// <inheritdoc/>
    public void ApplyServices(IServiceCollection services)
    {
        services.AddSingleton<SessionPreparation>();
        services.AddScoped<ContextSession>();
        services.AddScoped<SessionEnd>();
        services.AddScoped<IInterceptor>(static provider => provider.GetRequiredService<ContextSession>());
        services.AddScoped<IResettableService>(static provider => provider.GetRequiredService<ContextSession>());
        Wrap<IRelationalDatabaseCreator>(
            services,
            static (provider, inner) => ActivatorUtilities.CreateInstance<UnpooledDatabaseCreator>(provider, inner));
        Wrap<IMigrator>(services, static (provider, inner) => ActivatorUtilities.CreateInstance<UnpooledMigrator>(provider, inner));
    }

    /// <summary>
    /// Puts services around those that the program has in place of the provider's: replacements are made last, so a replacement would
    /// stand in the place of ours.
    /// </summary>
    internal static CoreOptionsExtension WrapReplacements(CoreOptionsExtension core)
    {
        CoreOptionsExtension wrapped = core;
        foreach (((Type service, Type? current), Type own) in core.ReplacedServices ?? new Dictionary<(Type, Type?), Type>())
        {
            if (current is null && FindWrapper(service) is { } wrapper && !IsWrapper(own))
            {
                wrapped = wrapped.WithReplacedService(service, wrapper.MakeGenericType(own));
            }
        }

        return wrapped;
    }

    /// <inheritdoc/>
    public void Validate(IDbContextOptions options)
    {
        Check(options);
        foreach (((Type service, Type? current), Type own) in
            options.FindExtension<CoreOptionsExtension>()?.ReplacedServices ?? new Dictionary<(Type, Type?), Type>())
        {
            if (FindWrapper(service) is not null && (current is not null || !IsWrapper(own)))
            {
                throw new InvalidOperationException(
                    $"UseTidepool needs to know of {own.Name} in place of {service.Name}: call ReplaceService<{service.Name}, "
                        + $"{own.Name}>() before UseTidepool, and without the type that it replaces.");
            }
        }

        if (options.FindExtension<CoreOptionsExtension>()?.InternalServiceProvider is not null)
        {
            throw new InvalidOperationException(
                "UseTidepool adds services to those that Entity Framework makes for itself: it does not work with "
                    + "UseInternalServiceProvider.");
        }
    }

    private static Type? FindWrapper(Type service) =>
        service == typeof(IMigrator) ? typeof(UnpooledMigrator<>)
        : service == typeof(IRelationalDatabaseCreator) ? typeof(UnpooledDatabaseCreator<>)
        : null;

    private static bool IsWrapper(Type type) =>
        type.IsConstructedGenericType
        && (type.GetGenericTypeDefinition() == typeof(UnpooledMigrator<>)
            || type.GetGenericTypeDefinition() == typeof(UnpooledDatabaseCreator<>));

    /// <summary>Puts a service around the provider's, which was added before.</summary>
    private static void Wrap<TService>(IServiceCollection services, Func<IServiceProvider, TService, TService> wrap)
        where TService : class
    {
        ServiceDescriptor inner = services.LastOrDefault(static service => service.ServiceType == typeof(TService))
            ?? throw new InvalidOperationException(
                $"The provider has no {typeof(TService).Name}: call UseTidepool after the provider's own method.");
        Type type = inner.ImplementationType ?? throw new InvalidOperationException(
            $"The provider's {typeof(TService).Name} is made by a function, and UseTidepool knows only those that are types.");
        services.Remove(inner);
        services.Add(
            new ServiceDescriptor(
                typeof(TService),
                provider => wrap(provider, (TService)ActivatorUtilities.CreateInstance(provider, type)),
                inner.Lifetime));
    }

    private sealed class SessionOptionsInfo(SessionOptionsExtension extension) : DbContextOptionsExtensionInfo(extension)
    {
        public override bool IsDatabaseProvider => false;

        public override string LogFragment => $"using Tidepool '{extension.Source.Name}' ";

        public override int GetServiceProviderHashCode() => 0;

        public override bool ShouldUseSameServiceProvider(DbContextOptionsExtensionInfo other) => other is SessionOptionsInfo;

        public override void PopulateDebugInfo(IDictionary<string, string> debugInfo) => debugInfo["Tidepool"] = extension.Source.Name;
    }
}
