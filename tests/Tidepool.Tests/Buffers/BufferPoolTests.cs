using System.Buffers;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Buffers;

public sealed class BufferPoolTests(ITestOutputHelper output) : PoolTest
{
    [Fact]
    public void A_returned_buffer_is_rented_again_on_the_same_thread()
    {
        BufferPool<byte> pool = NewPool<byte>();
        BufferLease<byte> first = pool.Rent(1000);
        byte[] array = first.Segment.Array!;
        first.Return();
        using BufferLease<byte> second = pool.Rent(1000);
        Assert.Same(array, second.Segment.Array);
        Assert.Equal(1, pool.GetStatistics().Missed);
    }

    [Fact]
    public void Lengths_of_one_class_share_their_buffers()
    {
        BufferPool<byte> pool = NewPool<byte>();
        int index = SizeClasses.Default.IndexOf(1000);
        int longest = SizeClasses.Default.LengthOf(index);
        int shortest = SizeClasses.Default.LengthOf(index - 1) + 1;
        pool.Rent(shortest).Return();
        using BufferLease<byte> longer = pool.Rent(longest);
        Assert.Equal(longest, longer.Span.Length);
        Assert.Equal(1, pool.GetStatistics().Missed);
    }

    [Fact]
    public void Buffers_that_were_returned_on_this_thread_are_all_rented_again_before_any_is_made()
    {
        BufferPool<byte> pool = NewPool<byte>();
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent(500))];
        HashSet<byte[]> arrays = [.. leases.Select(l => l.Segment.Array!)];
        Array.ForEach(leases, l => l.Return());
        BufferLease<byte>[] again = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent(500))];
        Assert.True(arrays.SetEquals(again.Select(l => l.Segment.Array!)));
        Array.ForEach(again, l => l.Return());
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(int.MinValue)]
    [InlineData(int.MaxValue)]
    public void A_length_that_no_array_has_is_refused_and_changes_nothing(int length)
    {
        BufferPool<byte> pool = NewPool<byte>();
        Assert.Throws<ArgumentOutOfRangeException>(nameof(length), () => pool.Rent(length));
        Assert.Equal(0, pool.GetStatistics().Rented);
        Assert.Equal(0, pool.GetStatistics().BytesLeased);
    }

    [Fact]
    public void A_thousand_rentals_of_one_length_are_a_thousand_buffers()
    {
        BufferPool<int> pool = NewPool<int>();
        for (int round = 0; round < 3; round++)
        {
            BufferLease<int>[] leases = [.. Enumerable.Range(0, 1000).Select(_ => pool.Rent(40))];
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i].Span.Fill(i);
            }

            for (int i = 0; i < leases.Length; i++)
            {
                Assert.Equal(-1, leases[i].Span.IndexOfAnyExcept(i));
                leases[i].Return();
            }
        }

        Assert.Equal(1000, pool.GetStatistics().Missed);
    }

    [Fact]
    public void Rentals_of_random_lengths_keep_their_content()
    {
        Random random = Seeds.New(output);
        BufferPool<int> pool = NewPool<int>();
        List<(BufferLease<int> Lease, int Mark)> live = [];
        for (int step = 0; step < 50_000; step++)
        {
            if (live.Count > 0 && random.Next(100) < 52)
            {
                int index = random.Next(live.Count);
                (BufferLease<int> lease, int mark) = live[index];
                Assert.Equal(-1, lease.Span.IndexOfAnyExcept(mark));
                if (random.Next(2) == 0)
                {
                    lease.Return();
                }
                else
                {
                    lease.Dispose();
                }

                live[index] = live[^1];
                live.RemoveAt(live.Count - 1);
            }
            else
            {
                int length = (int)Math.Exp(random.NextDouble() * Math.Log(20_000));
                BufferLease<int> lease = pool.Rent(length);
                lease.Span.Fill(step);
                live.Add((lease, step));
            }
        }

        foreach ((BufferLease<int> lease, int mark) in live)
        {
            Assert.Equal(-1, lease.Span.IndexOfAnyExcept(mark));
            lease.Return();
        }
    }

    [Fact]
    public void Several_threads_that_hand_leases_to_each_other_never_share_a_buffer()
    {
        BufferPool<int> pool = NewPool<int>();
        BufferLease<int>?[] exchange = new BufferLease<int>?[64];
        Lock[] gates = [.. exchange.Select(_ => new Lock())];
        Threads.RunAll(4, thread =>
        {
            Random random = new(thread);
            for (int i = 0; i < 20_000; i++)
            {
                BufferLease<int> lease = pool.Rent(random.Next(1, 300));
                lease.Span.Fill(i);
                Assert.Equal(-1, lease.Span.IndexOfAnyExcept(i));
                int place = random.Next(exchange.Length);
                BufferLease<int>? other;
                lease.Span.Fill(place);
                lock (gates[place])
                {
                    other = exchange[place];
                    exchange[place] = lease;
                }

                if (other is { } taken)
                {
                    Assert.Equal(-1, taken.Span.IndexOfAnyExcept(place));
                    taken.Return();
                }
            }
        });
        foreach (BufferLease<int>? left in exchange)
        {
            left?.Return();
        }
    }

    [Fact]
    public void Rent_with_clear_gives_zeroes()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using (BufferLease<byte> dirty = pool.Rent(300))
        {
            dirty.Span.Fill(255);
        }

        using BufferLease<byte> clean = pool.Rent(300, clear: true);
        Assert.Equal(-1, clean.Span.IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public void Rent_without_clear_gives_what_the_last_renter_left()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Checks = PoolChecks.Default });
        using (BufferLease<byte> dirty = pool.Rent(300))
        {
            dirty.Span.Fill(255);
        }

        using BufferLease<byte> again = pool.Rent(300);
        Assert.Equal(-1, again.Span.IndexOfAnyExcept((byte)255));
    }

    [Fact]
    public void Two_pools_never_exchange_buffers()
    {
        BufferPool<byte> first = NewPool<byte>();
        BufferPool<byte> second = NewPool<byte>();
        BufferLease<byte> lease = first.Rent(100);
        byte[] array = lease.Segment.Array!;
        lease.Return();
        using BufferLease<byte> other = second.Rent(100);
        Assert.NotSame(array, other.Segment.Array);
    }

    [Fact]
    public void The_adapters_of_a_pool_are_the_same_objects_at_every_call()
    {
        BufferPool<byte> pool = NewPool<byte>();
        ArrayPool<byte> arrays = pool.AsArrayPool();
        MemoryPool<byte> memory = pool.AsMemoryPool();
        Assert.Same(arrays, pool.AsArrayPool());
        Assert.Same(memory, pool.AsMemoryPool());
        Assert.IsType<PooledMemoryPool<byte>>(memory);
    }

    [Fact]
    public void An_array_adapter_over_other_classes_has_their_lengths()
    {
        BufferPool<byte> pool = NewPool<byte>();
        ArrayPool<byte> arrays = pool.AsArrayPool(SizeClasses.Default);
        byte[] array = arrays.Rent(1025);
        Assert.Equal(SizeClasses.Default.LengthOf(SizeClasses.Default.IndexOf(1025)), array.Length);
        Assert.NotEqual(2048, array.Length);
        arrays.Return(array);
        Assert.Same(array, arrays.Rent(1025));
        arrays.Return(array);
        Assert.Throws<ArgumentNullException>(() => pool.AsArrayPool(null!));
    }

    [Fact]
    public void A_source_that_fails_leaves_the_pool_as_it_was()
    {
        using NativeTestSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "failing", Source = source });
        for (int nth = 1; nth <= 6; nth++)
        {
            source.FailAt(nth);
            List<BufferLease<byte>> leases = [];
            Assert.ThrowsAny<OutOfMemoryException>(() =>
            {
                for (int i = 0; i < 10; i++)
                {
                    leases.Add(pool.Rent(64));
                }
            });
            Assert.Equal(nth - 1, leases.Count);
            Assert.Equal(nth - 1, pool.GetStatistics().Leased);
            leases.ForEach(l => l.Return());
            pool.Validate();
            pool.Trim();
            Assert.Equal(0, source.Live);
            source.FailAt(-1);
        }
    }
}

[Collection(SharedPoolsCollection.Name)]
public sealed class SharedPoolTests
{
    [Fact]
    public void Shared_is_one_pool_for_each_element_type()
    {
        Assert.Same(BufferPool<byte>.Shared, BufferPool<byte>.Shared);
        Assert.NotNull(BufferPool<string>.Shared);
        Assert.NotEqual("", BufferPool<byte>.Shared.Name);
    }

    [Fact]
    public void Dispose_of_Shared_does_nothing()
    {
        BufferPool<short>.Shared.Dispose();
        BufferLease<short> first = BufferPool<short>.Shared.Rent(100);
        short[] array = first.Segment.Array!;
        first.Return();
        using BufferLease<short> second = BufferPool<short>.Shared.Rent(100);
        Assert.Same(array, second.Segment.Array);
    }

    [Fact]
    public void Shared_counts_what_is_rented_and_returned()
    {
        PoolStatistics before = BufferPool<ushort>.Shared.GetStatistics();
        using (BufferPool<ushort>.Shared.Rent(100))
        {
            Assert.Equal(before.Leased + 1, BufferPool<ushort>.Shared.GetStatistics().Leased);
        }

        PoolStatistics after = BufferPool<ushort>.Shared.GetStatistics();
        Assert.Equal(before.Leased, after.Leased);
        Assert.Equal(before.Rented + 1, after.Rented);
        BufferPool<ushort>.Shared.Validate();
    }

    [Fact]
    public void Trim_empties_Shared_at_once()
    {
        for (int i = 0; i < 30; i++)
        {
            using BufferLease<uint> lease = BufferPool<uint>.Shared.Rent(i * 100);
        }

        Assert.NotEqual(0, BufferPool<uint>.Shared.GetStatistics().BytesIdle);
        BufferPool<uint>.Shared.Trim();
        Assert.Equal(0, BufferPool<uint>.Shared.GetStatistics().BytesIdle);
    }
}
