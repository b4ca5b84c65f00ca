using System.Buffers;
using System.Reflection;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Labs;

/// <summary>Holds a memory pool in a static field, as a server does; a type for each, so that each has its own loops.</summary>
internal interface IMemoryPoolSource
{
    /// <summary>The pool that the loops use.</summary>
    static abstract MemoryPool<byte> Pool { get; }

    /// <summary>Makes a pool that was not used before.</summary>
    static abstract MemoryPool<byte> Create();

    /// <summary>Whether it is there.</summary>
    static virtual bool Exists => true;

    /// <summary>What to say when it is not.</summary>
    static virtual string Missing => "";
}

/// <summary>Rent and dispose of a memory pool's owners.</summary>
internal readonly struct MemoryPoolSubject<TSource> : IRentalSubject<MemoryPoolSubject<TSource>, OwnerItem<byte>>
    where TSource : struct, IMemoryPoolSource
{
    public OwnerItem<byte> Rent(int length) => new(TSource.Pool.Rent(length));

    public void Touch(OwnerItem<byte> item) => item.Touch();

    public void Return(OwnerItem<byte> item) => item.Owner.Dispose();
}

/// <summary><c>MemoryPool&lt;byte&gt;.Shared</c>.</summary>
internal readonly struct DefaultMemoryPool : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool => MemoryPool<byte>.Shared;

    public static MemoryPool<byte> Create() => MemoryPool<byte>.Shared;
}

/// <summary>
/// Kestrel's pool of pinned 4096-byte blocks. Its class is internal; a user gets it, as here, through the public
/// <see cref="IMemoryPoolFactory{T}"/> that a web application with Kestrel has among its services.
/// </summary>
internal readonly struct KestrelPool : IMemoryPoolSource
{
    private static readonly IMemoryPoolFactory<byte>? Factory = FindFactory();
    private static readonly MemoryPool<byte>? Shared = Factory?.Create();

    /// <summary>Whether this version of ASP.NET Core has it.</summary>
    public static bool Exists => Factory is not null;

    public static string Missing => "not in this version of ASP.NET Core";

    public static MemoryPool<byte> Pool => Shared!;

    public static MemoryPool<byte> Create() => Factory!.Create();

    private static IMemoryPoolFactory<byte>? FindFactory()
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore();
        return builder.Build().Services.GetService<IMemoryPoolFactory<byte>>();
    }
}

/// <summary>Ours over arrays, a fresh owner for each rental.</summary>
internal readonly struct ArraysFreshOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new PooledMemoryPool<byte>(BufferPool<byte>.Create());
}

/// <summary>Ours over arrays, owners reused.</summary>
internal readonly struct ArraysReusedOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new PooledMemoryPool<byte>(BufferPool<byte>.Create(), OwnerReuse.Guarded);
}

/// <summary>Ours over arrays, owners reused at once: a second disposal may end the next rental.</summary>
internal readonly struct ArraysUnguardedOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new PooledMemoryPool<byte>(BufferPool<byte>.Create(), OwnerReuse.Unguarded);
}

/// <summary>Ours over slabs, a fresh owner for each rental.</summary>
internal readonly struct SlabsFreshOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new PooledMemoryPool<byte>(
        BufferPool<byte>.Create(new BufferPoolOptions<byte> { Source = new SlabSource<byte>() }));
}

/// <summary>Ours over slabs, owners reused.</summary>
internal readonly struct SlabsReusedOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new SlabMemoryPool<byte>();
}

/// <summary>Ours over pinned blocks, a fresh owner for each rental.</summary>
internal readonly struct PinnedFreshOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new PooledMemoryPool<byte>(
        BufferPool<byte>.Create(new BufferPoolOptions<byte> { Source = PinnedSource<byte>.Instance }));
}

/// <summary>Ours over pinned blocks, owners reused.</summary>
internal readonly struct PinnedReusedOwners : IMemoryPoolSource
{
    public static MemoryPool<byte> Pool { get; } = Create();

    public static MemoryPool<byte> Create() => new PinnedMemoryPool<byte>();
}

/// <summary>Ours over native memory, a fresh owner for each rental.</summary>
internal readonly struct NativeFreshOwners : IMemoryPoolSource
{
    private static readonly MemoryPool<byte>? Shared = Exists ? Create() : null;

    public static bool Exists => NativeBridge.Exists;

    public static string Missing => NativeBridge.Missing;

    public static MemoryPool<byte> Pool => Shared!;

    public static MemoryPool<byte> Create() => new PooledMemoryPool<byte>(NativeBridge.NewPool());
}

/// <summary>Ours over native memory, owners reused.</summary>
internal readonly struct NativeReusedOwners : IMemoryPoolSource
{
    private static readonly MemoryPool<byte>? Shared = Exists ? Create() : null;

    public static bool Exists => NativeBridge.Exists;

    public static string Missing => NativeBridge.Missing;

    public static MemoryPool<byte> Pool => Shared!;

    public static MemoryPool<byte> Create() => new NativeMemoryPool<byte>();
}

/// <summary>Versions of rivals, as their assemblies say.</summary>
internal static class RivalVersion
{
    /// <summary>The version of the assembly that declares the type, without build metadata.</summary>
    public static string Of(Type type) =>
        type.Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0]
        ?? type.Assembly.GetName().Version?.ToString()
        ?? "unknown";
}
