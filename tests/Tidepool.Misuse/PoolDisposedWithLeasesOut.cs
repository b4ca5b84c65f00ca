using System.Buffers;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>A pool is disposed before everything came back: each step ends with the check that all of it has gone to the source.</summary>
public abstract class PoolDisposedWithLeasesOut(PoolChecks mode) : MisuseTest(mode)
{
    protected void UseAndReturnLeasesAfterwards()
    {
        BufferLease<int>[] leases = [.. Enumerable.Range(0, 20).Select(_ => Pool.Rent(100))];
        for (int i = 0; i < leases.Length; i++)
        {
            leases[i].Span.Fill(i);
        }

        Pool.Dispose();
        for (int i = 0; i < leases.Length; i++)
        {
            Assert.True(leases[i].IsActive);
            Assert.Equal(-1, leases[i].Span.IndexOfAnyExcept(i));
            leases[i].Return();
            Assert.False(leases[i].IsActive);
        }

        AssertEmpty();
        Assert.Throws<ObjectDisposedException>(() => Pool.Rent(100));
    }

    protected void ReturnALeaseOnAnotherThreadAfterwards()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Pool.Dispose();
        Threads.Run(() => lease.Return());
        Assert.False(lease.IsActive);
        AssertEmpty();
    }

    protected void UseAndReturnAnOwnerAndAnArrayAfterwards()
    {
        IMemoryOwner<int> owner = Pool.Rent(100).ToOwner();
        int[] array = Pool.AsArrayPool().Rent(128);
        Pool.Dispose();
        owner.Memory.Span.Fill(3);
        array.AsSpan().Fill(4);
        Assert.Equal(3, owner.Memory.Span[99]);
        owner.Dispose();
        Pool.AsArrayPool().Return(array);
        AssertEmpty();
    }

    /// <summary>Returns a lease twice after the disposal; the second return is what the mode makes of it.</summary>
    protected void ReturnTwiceAfterwards(Action<Action> second)
    {
        ArgumentNullException.ThrowIfNull(second);
        BufferLease<int> lease = Pool.Rent(100);
        Pool.Dispose();
        lease.Return();
        second(() => lease.Return());
        Assert.Equal(1, Count(MisuseKind.DoubleReturn));
        AssertEmpty();
    }

    private void AssertEmpty()
    {
        PoolStatistics statistics = Pool.GetStatistics();
        Assert.Equal(0, statistics.Leased);
        Assert.Equal(0, statistics.BytesIdle);
        Assert.Equal(0, statistics.BytesLeased);
    }
}
