using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

public sealed class PooledMemoryPoolTests : PoolTest
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Memory_has_exactly_the_length_that_was_asked(bool reuseOwners)
    {
        using PooledMemoryPool<int> pool = new(NewPool<int>(), reuseOwners);
        foreach (int length in (int[])[0, 1, 10, 17, 2020, 100_000])
        {
            using IMemoryOwner<int> owner = pool.Rent(length);
            Assert.Equal(length, owner.Memory.Length);
        }

        using IMemoryOwner<int> usual = pool.Rent();
        Assert.Equal(1024, usual.Memory.Length);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_disposed_memory_pool_rents_nothing_and_leaves_the_pool_behind_it_alone(bool reuseOwners)
    {
        BufferPool<int> behind = NewPool<int>();
        PooledMemoryPool<int> pool = new(behind, reuseOwners);
        IMemoryOwner<int> owner = pool.Rent(10);
        pool.Dispose();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(10));
        owner.Memory.Span.Fill(1);
        owner.Dispose();
        behind.Rent(10).Return();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_memory_pool_over_a_disposed_pool_rents_nothing(bool reuseOwners)
    {
        BufferPool<int> behind = NewPool<int>();
        using PooledMemoryPool<int> pool = new(behind, reuseOwners);
        pool.Rent(10).Dispose();
        behind.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(10));
    }

    [Fact]
    public void Owners_that_wait_for_reuse_keep_no_buffer_that_the_budget_refused()
    {
        const int Length = 64 << 10;
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Budget = 4 * Length * sizeof(int) }), reuseOwners: true);
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
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Source = source, Checks = PoolChecks.Default }), reuseOwners: true);
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
        using PooledMemoryPool<int> pool = new(NewPool<int>(new() { Source = source, Checks = PoolChecks.Default }), reuseOwners: true);
        Assert.Equal(0, Allocations.Each(() =>
        {
            using IMemoryOwner<int> owner = pool.Rent(10);
            owner.Memory.Span[9] = 1;
        }));
    }

    [Fact]
    public void In_full_checks_a_stale_memory_throws_for_ever()
    {
        using NativeTestSource<int> source = new();
        using BufferPool<int> behind = BufferPool<int>.Create(new() { Source = source, Checks = PoolChecks.Full });
        using PooledMemoryPool<int> pool = new(behind, reuseOwners: true);
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
