using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>Uses pools whose right verdict is known, each for its name.</summary>
internal static class PooledProgram
{
    public const string Name = "pooled";
    public const string Roomy = "roomy";
    public const string Tight = "tight";
    public const string TightObjects = "tight objects";
    public const string Oversize = "oversize";
    public const string Doubled = "doubled";
    public const string Leaky = "leaky";
    public const string Coarse = "coarse";
    public const string Exact = "exact";
    public const string Held = "held";

    /// <summary>How many items the tight pools have out at a time.</summary>
    public const int Burst = 40;

    private const int TickMilliseconds = 5;
    private const int TicksPerMistake = 40;

    /// <summary>Where the leaked buffers are rented.</summary>
    public const string LeakingMethod = nameof(RentAndDrop);

    public static async Task RunAsync()
    {
        using var stop = new CancellationTokenSource();
        await using var held = ResourcePool.Create(
            static _ => Task.FromResult(new object()), new() { Name = Held, MaxSize = 1, LeakCapture = LeakCapture.CallSite });
        using ResourceLease<object> lease = await held.RentAsync();
        Task waiting = Task.Run(async () => await held.RentAsync(Timeout.InfiniteTimeSpan, stop.Token));
        Task work = Task.Factory.StartNew(() => Work(stop.Token), TaskCreationOptions.LongRunning);
        Console.WriteLine(WatchedProgram.Ready);
        await Console.In.ReadToEndAsync();
        await stop.CancelAsync();
        await Task.WhenAny(Task.WhenAll(work, waiting));
    }

    private static void Work(CancellationToken stop)
    {
        using var roomy = BufferPool<byte>.Create(new() { Name = Roomy });
        using var tight = BufferPool<byte>.Create(new() { Name = Tight, Budget = 8192 });
        using var objects = ObjectPool<object>.Create(static () => new object(), options: new() { Name = TightObjects, Budget = 4 });
        using var oversize = BufferPool<byte>.Create(new() { Name = Oversize, MaxLength = 4096 });
        using var doubled = BufferPool<byte>.Create(new() { Name = Doubled });
        using var leaky = BufferPool<byte>.Create(new() { Name = Leaky, LeakSampling = 1 });
        using var coarse = BufferPool<byte>.Create(new() { Name = Coarse, Sizes = SizeClasses.PowersOfTwo });
        using var exact = BufferPool<byte>.Create(new() { Name = Exact });
        ArrayPool<byte> small = ArrayPool<byte>.Create(maxArrayLength: 4096, maxArraysPerBucket: 1);
        ArrayPool<byte> twice = ArrayPool<byte>.Create(maxArrayLength: 4096, maxArraysPerBucket: 50);
        ArrayPool<byte> outgrown = ArrayPool<byte>.Create(maxArrayLength: 4096, maxArraysPerBucket: 50);
        for (int turn = 0; !stop.WaitHandle.WaitOne(TickMilliseconds); turn++)
        {
            RentAndReturn(roomy, static _ => 1000);
            RentBurst(tight);
            RentBurst(objects);
            RentAndReturn(oversize, static _ => 100_000);
            RentAndReturn(coarse, i => 4100 + 37 * ((turn + i) % 8));
            RentAndReturn(exact, i => 1000 + 24 * ((turn + i) % 2));
            RentBurst(small, 2000);
            RentBurst(outgrown, 10_000);
            if (turn % TicksPerMistake == 0)
            {
                ReturnTwice(doubled);
                ReturnTwice(twice);
                RentAndDrop(leaky);
                GC.Collect();
            }
        }
    }

    private static void RentAndReturn(BufferPool<byte> pool, Func<int, int> length)
    {
        for (int i = 0; i < Burst; i++)
        {
            pool.Rent(length(i)).Return();
        }
    }

    private static void RentBurst(BufferPool<byte> pool)
    {
        var leases = new BufferLease<byte>[Burst];
        for (int i = 0; i < Burst; i++)
        {
            leases[i] = pool.Rent(1000);
        }

        Array.ForEach(leases, static lease => lease.Return());
    }

    private static void RentBurst(ObjectPool<object> pool)
    {
        var leases = new ObjectLease<object>[Burst];
        for (int i = 0; i < Burst; i++)
        {
            leases[i] = pool.Rent();
        }

        Array.ForEach(leases, static lease => lease.Dispose());
    }

    private static void RentBurst(ArrayPool<byte> pool, int length)
    {
        var arrays = new byte[Burst][];
        for (int i = 0; i < Burst; i++)
        {
            arrays[i] = pool.Rent(length);
        }

        Array.ForEach(arrays, array => pool.Return(array));
    }

    private static void ReturnTwice(BufferPool<byte> pool)
    {
        BufferLease<byte> lease = pool.Rent(100);
        lease.Return();
        try
        {
            lease.Return();
        }
        catch (PoolMisuseException)
        {
            // That is what the pool is for.
        }
    }

    private static void ReturnTwice(ArrayPool<byte> pool)
    {
        byte[] first = pool.Rent(3000);
        GC.KeepAlive(pool.Rent(3000)); // or the pool would have no room for it twice
        pool.Return(first);
        pool.Return(first);

        // The pool hands it out twice now. Both are dropped, so that the next mistake is one of another array.
        GC.KeepAlive(pool.Rent(3000));
        GC.KeepAlive(pool.Rent(3000));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RentAndDrop(BufferPool<byte> pool) => GC.KeepAlive(pool.Rent(500).Length);
}
