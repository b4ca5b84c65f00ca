using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

public sealed class DisposalTests : PoolTest
{
    [Fact]
    public void Dispose_gives_every_idle_buffer_to_the_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte>[] leases = [.. Enumerable.Range(1, 50).Select(i => pool.Rent(i * 10))];
        Array.ForEach(leases, l => l.Return());
        pool.Dispose();
        Assert.Equal(50, source.Dead);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void Dispose_gives_the_idle_buffers_of_other_threads_to_the_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread other = new();
        other.Run(() => pool.Rent(100).Return());
        pool.Dispose();
        Assert.Equal(1, source.Dead);
    }

    [Fact]
    public void A_lease_that_is_out_stays_usable_and_its_return_goes_to_the_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte> lease = pool.Rent(100);
        lease.Span.Fill(1);
        pool.Dispose();
        Assert.True(lease.IsActive);
        Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)1));
        Assert.Equal(0, source.Dead);
        lease.Return();
        Assert.False(lease.IsActive);
        Assert.Equal(1, source.Dead);
        Assert.Equal(1, pool.GetStatistics().Returned);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void A_lease_that_is_out_may_be_returned_on_another_thread_after_Dispose()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte> lease = pool.Rent(100);
        pool.Dispose();
        Threads.Run(() => lease.Return());
        Assert.Equal(1, source.Dead);
        Assert.Throws<PoolMisuseException>(() => lease.Return());
        Assert.Equal(1, pool.GetStatistics().Returned);
    }

    [Fact]
    public void An_owner_and_an_array_that_are_out_may_be_returned_after_Dispose()
    {
        BufferPool<byte> pool = NewPool<byte>();
        IMemoryOwner<byte> owner = pool.Rent(100).ToOwner();
        IMemoryOwner<byte> memory = pool.AsMemoryPool().Rent(100);
        byte[] array = pool.AsArrayPool().Rent(100);
        pool.Dispose();
        owner.Memory.Span.Fill(1);
        memory.Memory.Span.Fill(2);
        owner.Dispose();
        memory.Dispose();
        pool.AsArrayPool().Return(array);
        Assert.Equal(0, pool.GetStatistics().Leased);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void A_disposed_pool_rents_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "gone" });
        pool.Rent(100).Return();
        pool.Dispose();
        ObjectDisposedException failure = Assert.Throws<ObjectDisposedException>(() => pool.Rent(100));
        Assert.Contains("gone", failure.Message, StringComparison.Ordinal);
        Assert.Throws<ObjectDisposedException>(() => pool.RentScope(100).Dispose());
        Assert.Throws<ObjectDisposedException>(() => pool.AsArrayPool().Rent(100));
        Assert.Throws<ObjectDisposedException>(() => pool.AsMemoryPool().Rent(100));
    }

    [Fact]
    public void A_disposed_pool_rents_nothing_on_a_thread_that_had_idle_buffers()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using ParkedThread other = new();
        other.Run(() => pool.Rent(100).Return());
        pool.Dispose();
        other.Run(() => Assert.Throws<ObjectDisposedException>(() => pool.Rent(100)));
    }

    [Fact]
    public void Dispose_may_be_called_twice_and_from_several_threads()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        pool.Rent(100).Return();
        Threads.RunAll(4, _ => pool.Dispose());
        pool.Dispose();
        Assert.Equal(1, source.Dead);
    }

    [Fact]
    public void Trim_and_statistics_of_a_disposed_pool_are_harmless()
    {
        BufferPool<byte> pool = NewPool<byte>();
        pool.Rent(100).Return();
        pool.Dispose();
        pool.Trim();
        pool.Validate();
        Assert.Equal(1, pool.GetStatistics().Rented);
    }

    [Fact]
    public void Renters_on_other_threads_survive_a_Dispose_under_their_feet()
    {
        for (int round = 0; round < 30; round++)
        {
            CountingSource<byte> source = new();
            BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
            Threads.RunAll(3, thread =>
            {
                if (thread == 0)
                {
                    pool.Dispose();
                    return;
                }

                try
                {
                    for (int i = 0; i < 2000; i++)
                    {
                        BufferLease<byte> lease = pool.Rent(100);
                        lease.Span.Fill((byte)thread);
                        Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)thread));
                        lease.Return();
                    }
                }
                catch (ObjectDisposedException)
                {
                    // The pool is gone: what the test is about.
                }
            });
            Assert.Equal(0, pool.GetStatistics().Leased);
            Assert.Equal(0, pool.GetStatistics().BytesIdle);
            Assert.Equal(source.Born, source.Dead);
        }
    }
}
