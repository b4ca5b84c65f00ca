using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

/// <summary>
/// A renter's finalizer returns its item, and the next renter has it before the finalizer of the item's record runs in the same collection.
/// </summary>
public sealed class ReturnByFinalizerTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(30);

    [Fact]
    public void Native_memory_of_the_next_renter_is_not_freed()
    {
        using NativeTestSource<byte> source = new();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
        BufferLease<byte> lease = NextAfterFinalizer(() => pool.Rent(100), static l => l.Return());
        Assert.Equal((1, 1), (source.Made, source.Live));
        lease.Span.Fill(7);
        AssertOneIsOut(pool.GetStatistics());
        lease.Return();
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void A_lease_of_the_next_renter_is_not_counted_as_lost()
    {
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { LeakSampling = 1 });
        BufferLease<byte> lease = NextAfterFinalizer(() => pool.Rent(100), static l => l.Return());
        AssertOneIsOut(pool.GetStatistics());
        lease.Return();
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void An_object_without_a_lease_of_the_next_renter_is_not_counted_as_lost()
    {
        using ObjectPool<object> pool = ObjectPool<object>.Create(static () => new object(), options: new() { Checks = PoolChecks.Full });
        object item = NextAfterFinalizer(pool.RentRaw, pool.ReturnRaw);
        AssertOneIsOut(pool.GetStatistics());
        pool.ReturnRaw(item);
    }

    /// <summary>Rents, drops, and rents again on the same thread while the finalizer that returned the item waits.</summary>
    private static TItem NextAfterFinalizer<TItem>(Func<TItem> rent, Action<TItem> giveBack)
    {
        using ManualResetEventSlim returned = new();
        using ManualResetEventSlim rentedAgain = new();
        Drop(rent, giveBack, returned, rentedAgain);
        GC.Collect();
        Assert.True(returned.Wait(s_limit), "the renter's finalizer did not run");
        TItem next = rent();
        rentedAgain.Set();
        Eventually.Collect();
        return next;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop<TItem>(
        Func<TItem> rent, Action<TItem> giveBack, ManualResetEventSlim returned, ManualResetEventSlim rentedAgain) =>
        _ = new Renter<TItem>(rent(), giveBack, returned, rentedAgain);

    private static void AssertOneIsOut(PoolStatistics statistics)
    {
        Assert.Equal(1, statistics.Leased);
        Assert.Equal(0, statistics.GetMisuse(MisuseKind.NeverReturned));
    }

    private sealed class Renter<TItem>(
        TItem item, Action<TItem> giveBack, ManualResetEventSlim returned, ManualResetEventSlim rentedAgain)
    {
        ~Renter()
        {
            giveBack(item);
            returned.Set();
            rentedAgain.Wait(s_limit);
        }
    }
}
