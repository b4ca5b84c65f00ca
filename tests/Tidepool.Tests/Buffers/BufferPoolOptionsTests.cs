using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

public sealed class BufferPoolOptionsTests : PoolTest
{
    [Fact]
    public void A_pool_without_options_has_a_name_and_the_checks_of_the_process()
    {
        BufferPool<byte> pool = NewPool<byte>();
        Assert.False(string.IsNullOrEmpty(pool.Name));
        Assert.Equal(ProcessChecks.Mode, pool.Checks);
    }

    [Fact]
    public void The_name_is_the_one_given()
    {
        Assert.Equal("frames", NewPool<byte>(new() { Name = "frames" }).Name);
    }

    [Theory]
    [InlineData(PoolChecks.Off)]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void The_checks_are_the_ones_given(PoolChecks checks)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Checks = checks });
        Assert.Equal(checks, pool.Checks);
        using BufferLease<byte> lease = pool.Rent(100);
        Assert.Equal(100, lease.Span.Length);
    }

    [Fact]
    public void Buffers_come_from_the_given_source_and_go_back_to_it()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte>[] leases = [pool.Rent(10), pool.Rent(10), pool.Rent(3000)];
        Assert.Equal(3, source.Born);
        Array.ForEach(leases, l => l.Return());
        Assert.Equal(0, source.Dead);
        pool.Trim();
        Assert.Equal(3, source.Dead);
        using (pool.Rent(10))
        {
            Assert.Equal(4, source.Born);
        }
    }

    [Fact]
    public void The_source_is_asked_for_the_length_of_the_class()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source, Sizes = SizeClasses.FromLengths(100, 1000) });
        using (pool.Rent(1))
        using (pool.Rent(101))
        {
            Assert.Equal([100, 1000], source.Asked.Select(a => a.Length));
        }
    }

    [Fact]
    public void A_length_beyond_the_classes_is_served_and_not_kept()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source, Sizes = SizeClasses.FromLengths(100, 1000) });
        BufferLease<byte> lease = pool.Rent(1001);
        Assert.Equal(1001, lease.Span.Length);
        lease.Return();
        Assert.Equal(1, source.Dead);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        Assert.Equal(1, pool.GetStatistics().Dropped);
    }

    [Fact]
    public void Idle_buffers_never_exceed_the_budget()
    {
        const long Budget = 1 << 20;
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source, Budget = Budget });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 200).Select(_ => pool.Rent(16_384))];
        Assert.Equal(200 * 16_384, pool.GetStatistics().BytesLeased);
        Array.ForEach(leases, l => l.Return());
        PoolStatistics statistics = pool.GetStatistics();
        // The thread tier has a static cap of its own: at most 15 items of this class lie outside of the budget.
        Assert.InRange(statistics.BytesIdle, 1, Budget + (15 * 16_384));
        Assert.True(statistics.Dropped > 0);
        Assert.Equal(source.Dead, statistics.Dropped);
        Assert.Equal(200, statistics.Dropped + (statistics.BytesIdle / 16_384));
    }

    [Fact]
    public void A_rent_succeeds_however_small_the_budget_is()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 0 });
        for (int i = 0; i < 3; i++)
        {
            BufferLease<byte>[] leases = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent(4096))];
            Array.ForEach(leases, l => l.Return());
        }

        Assert.True(pool.GetStatistics().Dropped > 0);
    }

    [Fact]
    public void Clear_on_rent_gives_zeroes()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Clear = ClearMode.OnRent, Checks = PoolChecks.Default });
        BufferLease<byte> dirty = pool.Rent(300);
        byte[] array = dirty.Segment.Array!;
        dirty.Span.Fill(255);
        dirty.Return();
        Assert.Equal(255, array[0]);
        using BufferLease<byte> clean = pool.Rent(300);
        Assert.Same(array, clean.Segment.Array);
        Assert.Equal(-1, clean.Span.IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public void Clear_on_return_zeroes_the_rented_length_at_once()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Clear = ClearMode.OnReturn, Checks = PoolChecks.Default });
        BufferLease<byte> lease = pool.Rent(300);
        byte[] array = lease.Segment.Array!;
        lease.Span.Fill(255);
        lease.Return();
        Assert.Equal(-1, array.AsSpan(0, 300).IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public void Clear_on_return_works_for_owners_and_for_returns_on_another_thread()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Clear = ClearMode.OnReturn, Checks = PoolChecks.Default });
        BufferLease<byte> owned = pool.Rent(300);
        byte[] first = owned.Segment.Array!;
        owned.Span.Fill(255);
        owned.ToOwner().Dispose();
        Assert.Equal(-1, first.AsSpan(0, 300).IndexOfAnyExcept((byte)0));

        BufferLease<byte> travelling = pool.Rent(500);
        byte[] second = travelling.Segment.Array!;
        travelling.Span.Fill(255);
        Threads.Run(() => travelling.Return());
        Assert.Equal(-1, second.AsSpan(0, 500).IndexOfAnyExcept((byte)0));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Secrets_are_zeroed_on_every_way_back(bool otherThread)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Secrets = true, Checks = PoolChecks.Default });
        Action<BufferLease<byte>>[] waysBack = [l => l.Return(), l => l.Dispose(), l => l.ToOwner().Dispose()];
        foreach (Action<BufferLease<byte>> giveBack in waysBack)
        {
            BufferLease<byte> lease = pool.Rent(1000);
            byte[] array = lease.Segment.Array!;
            lease.Span.Fill(0x5E);
            if (otherThread)
            {
                Threads.Run(() => giveBack(lease));
            }
            else
            {
                giveBack(lease);
            }

            Assert.Equal(-1, array.AsSpan().IndexOf((byte)0x5E));
        }
    }

    [Fact]
    public void Secrets_are_zeroed_in_raw_arrays_too()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Secrets = true, Checks = PoolChecks.Default });
        byte[] array = pool.AsArrayPool().Rent(100);
        array.AsSpan().Fill(0x5E);
        pool.AsArrayPool().Return(array);
        Assert.Equal(-1, array.AsSpan().IndexOf((byte)0x5E));

        byte[] scoped;
        using (ArrayScope<byte> scope = pool.RentScope(100))
        {
            scoped = scope.Array;
            scope.Array.AsSpan().Fill(0x5E);
        }

        Assert.Equal(-1, scoped.AsSpan().IndexOf((byte)0x5E));
    }

    [Theory]
    [InlineData(16)]
    [InlineData(64)]
    [InlineData(4096)]
    public unsafe void An_aligned_pool_rents_aligned_buffers(int alignment)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = PinnedSource<byte>.Instance, Alignment = alignment });
        List<BufferLease<byte>> leases = [];
        for (int round = 0; round < 2; round++)
        {
            foreach (int length in (int[])[1, 15, 100, 5000, 70_000])
            {
                BufferLease<byte> lease = pool.Rent(length);
                Assert.Equal(length, lease.Span.Length);
                nint address = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(lease.Span));
                Assert.Equal(0, address % alignment);
                leases.Add(lease);
            }

            leases.ForEach(l => l.Return());
            leases.Clear();
        }
    }

    [Theory]
    [InlineData(3)]
    [InlineData(-16)]
    [InlineData(48)]
    public void An_alignment_that_is_no_power_of_two_is_refused(int alignment) =>
        Assert.ThrowsAny<ArgumentException>(
            () => BufferPool<byte>.Create(new() { Source = PinnedSource<byte>.Instance, Alignment = alignment }));

    [Fact]
    public void An_alignment_that_the_source_cannot_promise_is_refused()
    {
        Exception failure = Assert.ThrowsAny<Exception>(() => BufferPool<byte>.Create(new() { Alignment = 64 }));
        Assert.True(failure is ArgumentException or NotSupportedException, failure.GetType().Name);
        failure = Assert.ThrowsAny<Exception>(
            () => BufferPool<byte>.Create(new() { Source = PinnedSource<byte>.Instance, Alignment = 8192 }));
        Assert.True(failure is ArgumentException or NotSupportedException, failure.GetType().Name);
    }

    [Fact]
    public void A_length_beyond_the_longest_kept_is_served_and_dropped_on_return()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source, MaxLength = 1000 });
        pool.Rent(1500).Return();
        Assert.Equal((1, 1), (source.Born, source.Dead));
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        Assert.Equal(1, pool.GetStatistics().Dropped);
        using (ArrayScope<byte> scope = pool.RentScope(1500))
        {
            Assert.Equal(1500, scope.Span.Length);
        }

        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        pool.Rent(1000).Return();
        Assert.NotEqual(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void Options_out_of_range_are_refused()
    {
        Assert.ThrowsAny<ArgumentException>(() => BufferPool<byte>.Create(new() { Budget = -1 }));
        Assert.ThrowsAny<ArgumentException>(() => BufferPool<byte>.Create(new() { MaxLength = 0 }));
        Assert.ThrowsAny<ArgumentException>(() => BufferPool<byte>.Create(new() { MaxLength = int.MaxValue }));
        Assert.ThrowsAny<ArgumentException>(() => BufferPool<byte>.Create(new() { LeakSampling = -1 }));
        Assert.ThrowsAny<ArgumentException>(() => BufferPool<byte>.Create(new() { Clear = (ClearMode)17 }));
        Assert.ThrowsAny<ArgumentException>(() => BufferPool<byte>.Create(new() { Checks = (PoolChecks)17 }));
    }
}
