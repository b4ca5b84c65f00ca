using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

/// <summary>An assembly that was loaded for a while, and whose types were the elements of shared pools, can be unloaded.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class UnloadingTests
{
    [Fact]
    public void A_context_whose_types_were_rented_unloads_once_its_buffers_have_been_trimmed()
    {
        WeakReference context = RentInAContext();
        Eventually.TrueAfterCollections(
            () =>
            {
                Trimmer.Epoch(all: true);
                return !context.IsAlive;
            },
            "the context to be unloaded");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference RentInAContext()
    {
        var context = new Sharing();
        Assembly copy = context.LoadFromAssemblyPath(typeof(UnloadingTests).Assembly.Location);
        Type element = copy.GetType(typeof(Element).FullName!)!;
        Assert.NotSame(typeof(Element), element);
        typeof(UnloadingTests).GetMethod(nameof(Rent), BindingFlags.NonPublic | BindingFlags.Static)!.MakeGenericMethod(element)
            .Invoke(null, null);
        context.Unload();
        return new WeakReference(context);
    }

    private static void Rent<T>()
    {
        using BufferLease<T> one = BufferPool<T>.Shared.Rent(100);
        using BufferLease<T> other = BufferPool<T>.Shared.Rent(5000);
        BufferPool<T>.Shared.AsArrayPool().Return(BufferPool<T>.Shared.AsArrayPool().Rent(100));
    }

    internal struct Element
    {
        public object? Value { get; set; }
    }

    /// <summary>A context with a copy of this assembly; everything else is that of the tests.</summary>
    private sealed class Sharing() : AssemblyLoadContext(isCollectible: true)
    {
        protected override Assembly? Load(AssemblyName assemblyName) => null;
    }
}
