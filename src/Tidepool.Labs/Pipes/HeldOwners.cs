using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>What a pool does with memory when many owners are held at once, returned, rented again, or forgotten.</summary>
internal static class HeldOwners
{
    /// <summary>Owners held at once.</summary>
    public const int Count = 1000;

    /// <summary>Metric: bytes allocated when the owners are rented a second time.</summary>
    public const string RentedAgain = "rented_again_B";

    /// <summary>Measures a pool that was not used before; the process must be fresh.</summary>
    public static Dictionary<string, double> Measure(Func<MemoryPool<byte>> create, int length)
    {
        var owners = new IMemoryOwner<byte>?[Count];
        Rehearse(create, length, owners);
        double forgotten = Forget(create(), length);

        long before = HeapBytes();
        var pool = create();
        Rent(pool, length, owners);
        double live = HeapBytes() - before;
        Return(owners);
        long allocated = GC.GetAllocatedBytesForCurrentThread();
        Rent(pool, length, owners);
        double again = GC.GetAllocatedBytesForCurrentThread() - allocated;
        Return(owners);
        double retained = HeapBytes() - before;
        GC.KeepAlive(pool);
        return new()
        {
            ["live_B"] = live,
            ["retained_B"] = retained,
            [RentedAgain] = again,
            ["never_disposed_B"] = forgotten,
        };
    }

    /// <summary>Compiles what is measured, so that the runtime's own memory is not counted as the pool's.</summary>
    private static void Rehearse(Func<MemoryPool<byte>> create, int length, IMemoryOwner<byte>?[] owners)
    {
        var pool = create();
        for (int pass = 0; pass < 2; pass++)
        {
            Rent(pool, length, owners);
            Return(owners);
        }

        _ = HeapBytes();
    }

    private static double Forget(MemoryPool<byte> pool, int length)
    {
        long before = HeapBytes();
        RentAndForget(pool, length);
        double forgotten = HeapBytes() - before;
        GC.KeepAlive(pool);
        return forgotten;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RentAndForget(MemoryPool<byte> pool, int length) =>
        Rent(pool, length, new IMemoryOwner<byte>?[Count]);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Rent(MemoryPool<byte> pool, int length, IMemoryOwner<byte>?[] owners)
    {
        for (int i = 0; i < owners.Length; i++)
        {
            owners[i] = pool.Rent(length);
            owners[i]!.Memory.Span[0] = 1;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Return(IMemoryOwner<byte>?[] owners)
    {
        for (int i = owners.Length - 1; i >= 0; i--)
        {
            owners[i]!.Dispose();
            owners[i] = null;
        }
    }

    /// <summary>Bytes in the heap after finalizers had their turn.</summary>
    private static long HeapBytes()
    {
        for (int pass = 0; pass < 2; pass++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        return GC.GetTotalMemory(forceFullCollection: true);
    }
}
