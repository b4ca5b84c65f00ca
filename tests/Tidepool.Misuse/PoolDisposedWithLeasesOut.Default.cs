using System.Buffers;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class PoolDisposedWithLeasesOutDefault() : MisuseTest(PoolChecks.Default)
{
    [Fact]
    public void Leases_stay_usable_and_are_returned_to_the_source()
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

    [Fact]
    public void Leases_may_be_returned_on_another_thread_too()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Pool.Dispose();
        Threads.Run(() => lease.Return());
        Assert.False(lease.IsActive);
        AssertEmpty();
    }

    [Fact]
    public void Owners_and_arrays_stay_usable()
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

    [Fact]
    public void A_second_return_is_refused_as_ever()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Pool.Dispose();
        lease.Return();
        Throws(MisuseKind.DoubleReturn, () => lease.Return());
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
