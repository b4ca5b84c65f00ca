using System.Buffers;
using System.Runtime;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.HitPaths;

/// <summary>Rents and returns in each way, one method each, until the JIT has compiled all of them with full optimization.</summary>
internal static class HitPathProgram
{
    private const int QuietRounds = 30; // without a new method, of 100 ms each: the JIT has nothing more to do

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);
    private static readonly BufferPool<byte> Bytes = BufferPool<byte>.Shared;
    private static readonly ArrayPool<byte> Arrays = BufferPool<byte>.Shared.AsArrayPool();
    private static readonly PooledMemoryPool<byte> Memories = new(Bytes, OwnerReuse.Guarded);
    private static readonly ObjectPool<Gadget> Objects = ObjectPool<Gadget>.Create(static () => new Gadget(), static _ => true);
    private static readonly BufferLease<byte>[] Away = new BufferLease<byte>[20]; // more than a thread returns before it has an outbox
    private static readonly ParkedThread Other = new();
    private static readonly ResourcePool<Gadget> Resources = new(new GadgetPolicy(), new ResourcePoolOptions { MaxSize = 2 });

    /// <summary>Calls every path until the JIT has made the last code for it. The JIT writes its listings when the process ends.</summary>
    internal static void Run()
    {
        long end = Environment.TickCount64 + (long)Limit.TotalMilliseconds;
        long compiled = 0;
        for (int quiet = 0; quiet < QuietRounds && Environment.TickCount64 < end; quiet++)
        {
            for (int i = 0; i < 100; i++)
            {
                CallAll();
            }

            Thread.Sleep(100); // optimizing begins when no method was compiled for the first time for as long
            long now = JitInfo.GetCompiledMethodCount();
            quiet = now == compiled ? quiet : 0;
            compiled = now;
        }
    }

    private static void CallAll()
    {
        ReturnLease(RentLease());
        RentAndReturnScope();
        for (int i = 0; i < Away.Length; i++)
        {
            Away[i] = RentLease();
        }

        Other.Run(static () => Array.ForEach(Away, ReturnAway));
        ReturnArray(RentArray());
        DisposeOwner(RentOwner());
        ReturnObject(RentObject());
        DisposeStream(NewStream());
        ReturnStream(RentStream());
        ReturnResource(RentResource());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static BufferLease<byte> RentLease() => Bytes.Rent(1000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnLease(BufferLease<byte> lease) => lease.Return();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnAway(BufferLease<byte> lease) => lease.Return();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RentAndReturnScope()
    {
        using ArrayScope<byte> scope = Bytes.RentScope(1000);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] RentArray() => Arrays.Rent(1000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnArray(byte[] array) => Arrays.Return(array);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IMemoryOwner<byte> RentOwner() => Memories.Rent(1000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DisposeOwner(IMemoryOwner<byte> owner) => owner.Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ObjectLease<Gadget> RentObject() => Objects.Rent();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnObject(ObjectLease<Gadget> lease) => lease.Return();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static PooledMemoryStream NewStream() => new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DisposeStream(PooledMemoryStream stream) => stream.Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static StreamLease RentStream() => PooledMemoryStream.RentLease();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnStream(StreamLease lease) => lease.Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ResourceLease<Gadget> RentResource() => Resources.Rent(Timeout.InfiniteTimeSpan);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnResource(ResourceLease<Gadget> lease) => lease.Dispose();

    private sealed class GadgetPolicy : ResourcePolicy<Gadget>
    {
        public override ValueTask<Gadget> CreateAsync(CancellationToken cancellationToken) => new(new Gadget());

        public override Gadget Create(CancellationToken cancellationToken) => new();
    }
}
