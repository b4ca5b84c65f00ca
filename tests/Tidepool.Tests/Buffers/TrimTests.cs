using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

public sealed class TrimTests : PoolTest
{
    [Fact]
    public void Trim_gives_every_idle_buffer_of_this_thread_to_the_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 300).Select(i => pool.Rent(i * 20))];
        Array.ForEach(leases, l => l.Return());
        pool.Trim();
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(0, statistics.BytesIdle);
        Assert.Equal(300, statistics.Trimmed);
        Assert.Equal(300, source.Dead);
    }

    [Fact]
    public void Trim_gives_every_idle_buffer_of_parked_threads_to_the_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread first = new();
        using ParkedThread second = new();
        first.Run(() => pool.Rent(100).Return());
        second.Run(() => pool.Rent(5000).Return());
        pool.Trim();
        Assert.Equal(2, source.Dead);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        first.Run(() => pool.Rent(100).Return());
        second.Run(() => pool.Rent(5000).Return());
        Assert.Equal(4, source.Born);
    }

    [Fact]
    public void Trim_leaves_leases_alone()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using BufferLease<byte> lease = pool.Rent(100);
        lease.Span.Fill(1);
        pool.Trim();
        using BufferLease<byte> other = pool.Rent(100);
        other.Span.Fill(2);
        Assert.True(lease.IsActive);
        Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)1));
    }

    [Fact]
    public void Trim_gives_buffers_that_were_returned_on_another_thread_to_the_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent(100))];
        Threads.Run(() => Array.ForEach(leases, l => l.Return()));
        pool.Trim();
        Assert.Equal(40, source.Dead);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void Trim_gives_raw_arrays_to_the_source()
    {
        BufferPool<byte> pool = NewPool<byte>();
        byte[][] arrays = [.. Enumerable.Range(0, 40).Select(_ => pool.AsArrayPool().Rent(100))];
        Array.ForEach(arrays, a => pool.AsArrayPool().Return(a));
        Assert.NotEqual(0, pool.GetStatistics().BytesIdle);
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        byte[] fresh = pool.AsArrayPool().Rent(100);
        Assert.DoesNotContain(arrays, array => ReferenceEquals(array, fresh));
        pool.AsArrayPool().Return(fresh);
    }

    [Fact]
    public void A_trimmed_array_is_left_to_the_collector()
    {
        BufferPool<byte> pool = NewPool<byte>();
        WeakReference[] buffers = RentAndReturn(pool);
        pool.Trim();
        Eventually.TrueAfterCollections(() => Array.TrueForAll(buffers, b => !b.IsAlive), "the trimmed buffers to be collected");
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void Trim_of_a_pool_that_renters_use_hands_no_buffer_out_twice()
    {
        BufferPool<int> pool = NewPool<int>();
        using CancellationTokenSource stop = new();
        Threads.RunAll(4, thread =>
        {
            if (thread == 0)
            {
                for (int i = 0; i < 300; i++)
                {
                    pool.Trim();
                    Thread.Yield();
                }

                stop.Cancel();
                return;
            }

            Random random = new(thread);
            Queue<BufferLease<int>> mine = new();
            while (!stop.IsCancellationRequested)
            {
                BufferLease<int> lease = pool.Rent(random.Next(1, 200));
                lease.Span.Fill(thread);
                mine.Enqueue(lease);
                if (mine.Count > 20)
                {
                    BufferLease<int> oldest = mine.Dequeue();
                    Assert.Equal(-1, oldest.Span.IndexOfAnyExcept(thread));
                    oldest.Return();
                }
            }

            foreach (BufferLease<int> lease in mine)
            {
                Assert.Equal(-1, lease.Span.IndexOfAnyExcept(thread));
                lease.Return();
            }
        });
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] RentAndReturn(BufferPool<byte> pool)
    {
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent(1000))];
        WeakReference[] buffers = [.. leases.Select(l => new WeakReference(l.Segment.Array))];
        Array.ForEach(leases, l => l.Return());
        byte[] raw = pool.AsArrayPool().Rent(1000);
        pool.AsArrayPool().Return(raw);
        return [.. buffers, new WeakReference(raw)];
    }
}
