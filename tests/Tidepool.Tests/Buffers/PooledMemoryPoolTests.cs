using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

public sealed class PooledMemoryPoolTests : PoolTest
{
    [Theory]
    [InlineData(OwnerReuse.Never)]
    [InlineData(OwnerReuse.Guarded)]
    [InlineData(OwnerReuse.Unguarded)]
    public void Memory_has_exactly_the_length_that_was_asked(OwnerReuse reuse)
    {
        using PooledMemoryPool<int> pool = new(NewPool<int>(), reuse);
        foreach (int length in (int[])[0, 1, 10, 17, 2020, 100_000])
        {
            using IMemoryOwner<int> owner = pool.Rent(length);
            Assert.Equal(length, owner.Memory.Length);
        }

        using IMemoryOwner<int> usual = pool.Rent();
        Assert.Equal(1024, usual.Memory.Length);
    }

    [Theory]
    [InlineData(OwnerReuse.Never)]
    [InlineData(OwnerReuse.Guarded)]
    [InlineData(OwnerReuse.Unguarded)]
    public void A_disposed_memory_pool_rents_nothing_and_leaves_the_pool_behind_it_alone(OwnerReuse reuse)
    {
        BufferPool<int> behind = NewPool<int>();
        PooledMemoryPool<int> pool = new(behind, reuse);
        IMemoryOwner<int> owner = pool.Rent(10);
        pool.Dispose();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(10));
        owner.Memory.Span.Fill(1);
        owner.Dispose();
        behind.Rent(10).Return();
    }

    [Theory]
    [InlineData(OwnerReuse.Never)]
    [InlineData(OwnerReuse.Guarded)]
    [InlineData(OwnerReuse.Unguarded)]
    public void A_memory_pool_over_a_disposed_pool_rents_nothing(OwnerReuse reuse)
    {
        BufferPool<int> behind = NewPool<int>();
        using PooledMemoryPool<int> pool = new(behind, reuse);
        pool.Rent(10).Dispose();
        behind.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(10));
    }

    [Theory]
    [InlineData((OwnerReuse)(-1))]
    [InlineData((OwnerReuse)3)]
    public void An_unknown_reuse_of_owners_is_refused(OwnerReuse reuse)
    {
        var thrown = Assert.Throws<ArgumentOutOfRangeException>(() => new PooledMemoryPool<int>(NewPool<int>(), reuse));
        Assert.Equal("reuse", thrown.ParamName);
        Assert.Equal(reuse, thrown.ActualValue);
    }

    [Fact]
    public void Unguarded_owners_belong_to_their_buffer()
    {
        BufferPool<int> behind = NewPool<int>();
        using PooledMemoryPool<int> pool = new(behind, OwnerReuse.Unguarded);
        using PooledMemoryPool<int> another = new(behind, OwnerReuse.Unguarded);
        using PooledMemoryPool<int> guarded = new(behind, OwnerReuse.Guarded);
        IMemoryOwner<int> first = pool.Rent(100);
        IMemoryOwner<int> second = pool.Rent(100);
        Assert.NotSame(first, second);
        first.Dispose();
        using (IMemoryOwner<int> again = another.Rent(110))
        {
            Assert.Same(first, again);
            Assert.Equal(110, again.Memory.Length);
        }

        using (IMemoryOwner<int> other = guarded.Rent(100))
        {
            Assert.NotSame(first, other);
            Assert.Throws<ObjectDisposedException>(() => first.Memory);
            first.Dispose();
            other.Memory.Span.Fill(1); // that was a stale owner, and the buffer is still rented
            using BufferLease<int> lease = behind.Rent(100);
            Assert.False(lease.Span.Overlaps(other.Memory.Span));
        }

        second.Dispose();
    }

    [Fact]
    public void A_second_Dispose_of_an_unguarded_owner_does_nothing_before_its_next_rental_and_ends_that_after_it()
    {
        BufferPool<int> behind = NewPool<int>();
        using PooledMemoryPool<int> pool = new(behind, OwnerReuse.Unguarded);
        IMemoryOwner<int> owner = pool.Rent(100);
        owner.Dispose();
        owner.Dispose();
        Assert.Equal(0, behind.GetStatistics().Leased);
        IMemoryOwner<int> next = pool.Rent(100);
        Assert.Same(owner, next);
        owner.Dispose(); // what the option gives up
        Assert.Equal(0, behind.GetStatistics().Leased);
        Assert.Throws<ObjectDisposedException>(() => next.Memory);
    }

    [Fact]
    public void Racing_disposals_of_an_unguarded_owner_return_its_buffer_once()
    {
        BufferPool<int> behind = NewPool<int>();
        using PooledMemoryPool<int> pool = new(behind, OwnerReuse.Unguarded);
        using Barrier barrier = new(3);
        IMemoryOwner<int>? rented = null;
        const int Rounds = 2000;
        Thread[] threads = [.. Enumerable.Range(0, 2).Select(_ => new Thread(() =>
        {
            for (int i = 0; i < Rounds; i++)
            {
                barrier.SignalAndWait();
                rented!.Dispose();
                barrier.SignalAndWait();
            }
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        for (int i = 0; i < Rounds; i++)
        {
            rented = pool.Rent(100);
            barrier.SignalAndWait();
            barrier.SignalAndWait();
            using IMemoryOwner<int> one = pool.Rent(100);
            using IMemoryOwner<int> other = pool.Rent(100);
            Assert.False(one.Memory.Span.Overlaps(other.Memory.Span));
        }

        Array.ForEach(threads, static thread => thread.Join());
        behind.Validate();
        Assert.Equal(0, behind.GetStatistics().Leased);
    }

    [Fact]
    public void Owners_that_wait_for_reuse_keep_no_buffer_that_the_budget_refused()
    {
        const int Length = 64 << 10;
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Budget = 4 * Length * sizeof(int) }), OwnerReuse.Guarded);
        WeakReference[] arrays = RentManyAtOnce(pool, Length, 100);
        Eventually.TrueAfterCollections(() => arrays.Count(static array => array.IsAlive) <= 8, "the dropped buffers to be collected");

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference[] RentManyAtOnce(PooledMemoryPool<int> pool, int length, int count)
        {
            IMemoryOwner<int>[] owners = [.. Enumerable.Range(0, count).Select(_ => pool.Rent(length))];
            WeakReference[] arrays = Array.ConvertAll(owners, static owner =>
                new WeakReference(MemoryMarshal.TryGetArray(owner.Memory, out ArraySegment<int> segment) ? segment.Array : null));
            Array.ForEach(owners, static owner => owner.Dispose());
            return arrays;
        }
    }

    [Fact]
    public void The_adapter_ignores_Dispose()
    {
        BufferPool<int> pool = NewPool<int>();
        pool.AsMemoryPool().Dispose();
        pool.AsMemoryPool().Rent(10).Dispose();
    }

    [Fact]
    public void Memory_of_native_buffers_can_be_pinned_and_checks_its_lease()
    {
        using NativeTestSource<int> source = new();
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Source = source }));
        IMemoryOwner<int> owner = pool.Rent(10);
        Memory<int> memory = owner.Memory;
        memory.Span.Fill(5);
        using (MemoryHandle pin = memory[3..].Pin())
        {
            unsafe
            {
                Assert.Equal(5, *(int*)pin.Pointer);
            }
        }

        Assert.False(MemoryMarshal.TryGetArray(memory, out ArraySegment<int> _));
        owner.Dispose();
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
    }

    [Fact]
    public void Memory_of_a_reused_owner_throws_from_its_return_until_the_owner_is_rented_again()
    {
        using NativeTestSource<int> source = new();
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Source = source, Checks = PoolChecks.Default }), OwnerReuse.Guarded);
        IMemoryOwner<int> owner = pool.Rent(10);
        Memory<int> stale = owner.Memory;
        owner.Dispose();
        for (int i = 0; i < 16; i++)
        {
            Assert.Throws<ObjectDisposedException>(() => stale.Span.Length);
            Assert.Throws<ObjectDisposedException>(() => owner.Memory);
            pool.Rent(10).Dispose();
        }
    }

    [Fact]
    public void Memory_of_native_buffers_and_reused_owners_allocates_nothing()
    {
        using NativeTestSource<int> source = new();
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Source = source, Checks = PoolChecks.Default }), OwnerReuse.Guarded);
        Assert.Equal(0, Allocations.Each(() =>
        {
            using IMemoryOwner<int> owner = pool.Rent(10);
            owner.Memory.Span[9] = 1;
        }));
    }

    [Theory]
    [InlineData(OwnerReuse.Guarded)]
    [InlineData(OwnerReuse.Unguarded)]
    public void In_full_checks_a_stale_memory_throws_for_ever(OwnerReuse reuse)
    {
        using NativeTestSource<int> source = new();
        using BufferPool<int> behind = BufferPool<int>.Create(new() { Source = source, Checks = PoolChecks.Full });
        using PooledMemoryPool<int> pool = new(behind, reuse);
        IMemoryOwner<int> owner = pool.Rent(10);
        Memory<int> stale = owner.Memory;
        owner.Dispose();
        for (int i = 0; i < 200; i++)
        {
            using IMemoryOwner<int> next = pool.Rent(10);
            Assert.NotSame(owner, next);
            Assert.Throws<ObjectDisposedException>(() => stale.Span.Length);
        }

        behind.Validate();
    }

    [Fact]
    public void A_pool_whose_buffers_are_no_whole_arrays_rents_no_arrays()
    {
        BufferPool<byte> slabs = NewPool<byte>(new() { Source = new SlabSource<byte>() });
        BufferPool<byte> aligned = NewPool<byte>(new() { Source = PinnedSource<byte>.Instance, Alignment = 64 });
        using NativeTestSource<byte> source = new();
        BufferPool<byte> native = NewPool<byte>(new() { Source = source });
        foreach (BufferPool<byte> pool in (BufferPool<byte>[])[slabs, aligned, native])
        {
            Assert.Throws<NotSupportedException>(() => pool.AsArrayPool());
            Assert.Throws<NotSupportedException>(() => pool.AsArrayPool(SizeClasses.Default));
            Assert.Throws<NotSupportedException>(() => pool.RentScope(10).Dispose());
            pool.AsMemoryPool().Rent(10).Dispose();
        }
    }
}
