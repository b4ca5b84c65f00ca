using System.Reflection;
using System.Runtime.CompilerServices;

namespace Tidepool.Native.Tests.Support;

/// <summary>What child processes do. Each method prints lines that its test reads.</summary>
internal static class Scenarios
{
    public const int LeakedBuffers = 2000;

    private const long EnoughForACollection = 256 << 20;

    public static Action? Find(string name) =>
        typeof(Scenarios).GetMethod(name, BindingFlags.Public | BindingFlags.Static, [])?.CreateDelegate<Action>();

    /// <summary>Which library is there, or what is said when it is not.</summary>
    public static void Locate()
    {
        Console.WriteLine($"available: {TidepoolNative.IsAvailable}");
        foreach ((string what, Action use) in new (string, Action)[]
        {
            ("source", () => _ = NativeSource<byte>.Instance),
            ("pool", () => new NativeMemoryPool<byte>().Dispose()),
            ("version", () => Console.WriteLine($"version: {TidepoolNative.Version}")),
            ("path", () => Console.WriteLine($"path: {TidepoolNative.LibraryPath}")),
        })
        {
            try
            {
                use();
            }
            catch (DllNotFoundException missing)
            {
                Console.WriteLine($"{what} missing: {missing.Message}");
            }
        }
    }

    /// <summary>Rents until the budget is used up, then goes on after something was returned.</summary>
    public static void UseUpTheBudget()
    {
        Console.WriteLine($"budget at first: {TidepoolNative.Budget?.ToString() ?? "none"}");
        TidepoolNative.Budget = 64 << 20;
        using var pool = BufferPool<byte>.Create(new() { Source = NativeSource<byte>.Instance });
        var leases = new List<BufferLease<byte>>();
        try
        {
            while (leases.Count < 1000)
            {
                leases.Add(pool.Rent(1 << 20));
                leases[^1].Span.Fill(1);
            }
        }
        catch (OutOfMemoryException refusal)
        {
            Console.WriteLine($"refused: {refusal.GetType().Name} {refusal.Message}");
        }

        Console.WriteLine($"rented: {leases.Count}");
        PoolStatistics statistics = pool.GetStatistics();
        Console.WriteLine($"counted: {statistics.Leased}");
        leases[0].Return();
        using (BufferLease<byte> again = pool.Rent(1 << 20))
        {
            Console.WriteLine($"after a return: {again.Span.Length}");
        }

        leases.Skip(1).ToList().ForEach(l => l.Return());
        pool.Trim();
        pool.Validate();
        using BufferLease<byte> other = pool.Rent(32 << 20);
        Console.WriteLine($"after a trim: {other.Span.Length}");
    }

    /// <summary>Rents small buffers, which come from slabs, and aligned ones.</summary>
    public static void UseUpTheBudgetWithSmallBuffers()
    {
        TidepoolNative.Budget = 8 << 20;
        using var pool = BufferPool<byte>.Create(new() { Source = NativeSource<byte>.Instance, Alignment = 64 });
        var leases = new List<BufferLease<byte>>();
        for (int round = 0; round < 3; round++)
        {
            try
            {
                while (leases.Count < 100_000)
                {
                    leases.Add(pool.Rent(1000));
                }
            }
            catch (InsufficientMemoryException)
            {
                Console.WriteLine($"refused after: {leases.Count}");
            }

            leases.ForEach(l => l.Return());
            leases.Clear();
            pool.Trim();
            Console.WriteLine($"slabs: {NativeSlabs.Count}");
        }

        pool.Validate();
    }

    /// <summary>Leaks two gigabytes and never asks for a collection.</summary>
    public static void LeakWithoutCollecting()
    {
        using var pool = BufferPool<byte>.Create(new() { Source = NativeSource<byte>.Instance });
        long peak = 0;
        for (int i = 0; i < LeakedBuffers; i++)
        {
            Leak(pool);
            long live = TidepoolNative.GetStatistics().LiveBytes;
            peak = Math.Max(peak, live);
            if (live > EnoughForACollection)
            {
                Thread.Sleep(20); // the collector of a busy machine needs a moment after its last one
            }
        }

        Console.WriteLine($"peak: {peak}");

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Leak(BufferPool<byte> pool) => pool.Rent(1 << 20).Span[0] = 1;
    }

    /// <summary>Writes past the end of a buffer and returns it; the checked library must end the process.</summary>
    public static unsafe void WritePastTheEnd()
    {
        Console.WriteLine($"checked: {TidepoolNative.IsChecked}");
        using var pool = BufferPool<byte>.Create(new() { Source = NativeSource<byte>.Instance, Sizes = SizeClasses.FromLengths(100) });
        BufferLease<byte> lease = pool.Rent(100);
        fixed (byte* first = lease.Span)
        {
            first[100] = 2; // what the checked library has put there is odd: an even byte always differs
        }

        lease.Return();
        pool.Trim();
        Console.WriteLine("not noticed");
    }
}
