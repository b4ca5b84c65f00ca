using System.Diagnostics;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Tidepool;

/// <summary>
/// Lets our factory win when Kestrel is chosen after it. Kestrel adds its own then, and the later of two is used; so when a host is about
/// to be built, ours is put behind those of the framework.
/// </summary>
/// <remarks>
/// The host tells by a diagnostic event, after which its last services are added: what the tools of Entity Framework and the test host of
/// ASP.NET Core rely on too. Hosts without our factory are left alone. A host that tells nothing (the old <c>WebHostBuilder</c>) is met by
/// <see cref="MemoryPoolCheck"/>.
/// </remarks>
internal sealed class MemoryPoolPromotion : IObserver<DiagnosticListener>, IObserver<KeyValuePair<string, object?>>
{
    private static readonly Lazy<IDisposable> Watching = new(
        static () => DiagnosticListener.AllListeners.Subscribe(new MemoryPoolPromotion()));

    private MemoryPoolPromotion()
    {
    }

    /// <summary>Watches all hosts that are built from now on, once for the process.</summary>
    internal static void Watch() => _ = Watching.Value;

    public void OnNext(DiagnosticListener value)
    {
        if (value.Name == "Microsoft.Extensions.Hosting")
        {
            value.Subscribe(this, static name => name == "HostBuilding"); // the listener is of one host and ends with its building
        }
    }

    public void OnNext(KeyValuePair<string, object?> value)
    {
        if (value is { Key: "HostBuilding", Value: IHostBuilder host })
        {
            host.ConfigureServices(static (_, services) => Promote(services));
        }
    }

    public void OnCompleted()
    {
        // A host was built.
    }

    public void OnError(Exception error)
    {
        // No listener of a host reports one.
    }

    /// <summary>Puts our factory last, unless the program has added one of its own after it: its choice, or a mistake to tell.</summary>
    private static void Promote(IServiceCollection services)
    {
        ServiceDescriptor[] factories =
            [.. services.Where(static service => !service.IsKeyedService && service.ServiceType == typeof(IMemoryPoolFactory<byte>))];
        int ours = Array.FindLastIndex(factories, static service => service.ImplementationInstance is SlabMemoryPoolFactory);
        if (ours >= 0 && factories[(ours + 1)..].All(IsOfFramework))
        {
            foreach (ServiceDescriptor factory in factories)
            {
                services.Remove(factory);
            }

            services.Add(factories[ours]);
        }
    }

    private static bool IsOfFramework(ServiceDescriptor factory)
    {
        Type? origin = factory.ImplementationInstance?.GetType() ?? factory.ImplementationType
            ?? factory.ImplementationFactory?.Method.DeclaringType;
        return origin?.Assembly.GetName().Name?.StartsWith("Microsoft.AspNetCore.", StringComparison.Ordinal) == true;
    }
}
