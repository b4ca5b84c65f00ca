using System.Buffers;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

public sealed class BufferLeaseTests : PoolTest
{
    private readonly BufferPool<int> _pool;

    public BufferLeaseTests() => _pool = NewPool<int>(new() { Name = "leases", Checks = PoolChecks.Default });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(15)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(1000)]
    public void Every_view_of_a_lease_has_exactly_the_rented_length(int length)
    {
        using BufferLease<int> lease = _pool.Rent(length);
        Assert.Equal(length, lease.Length);
        Assert.Equal(length, lease.Span.Length);
        Assert.Equal(length, lease.Memory.Length);
        Assert.Equal(length, lease.Segment.Count);
    }

    [Fact]
    public void Span_Memory_and_Segment_are_the_same_elements()
    {
        using BufferLease<int> lease = _pool.Rent(100);
        lease.Span[3] = 42;
        Assert.Equal(42, lease.Memory.Span[3]);
        Assert.Equal(42, lease.Segment[3]);
        lease.Segment.AsSpan()[99] = 7;
        Assert.Equal(7, lease.Span[99]);
        Assert.True(lease.Memory.Span == lease.Span);
        Assert.True(MemoryMarshal.TryGetArray(lease.Memory, out ArraySegment<int> segment));
        Assert.Equal(lease.Segment, segment);
    }

    [Fact]
    public void A_new_lease_is_active_until_it_is_returned()
    {
        BufferLease<int> lease = _pool.Rent(10);
        Assert.True(lease.IsActive);
        lease.Return();
        Assert.False(lease.IsActive);
    }

    [Fact]
    public void A_new_lease_is_active_until_it_is_disposed()
    {
        BufferLease<int> lease = _pool.Rent(10);
        lease.Dispose();
        Assert.False(lease.IsActive);
    }

    [Fact]
    public void Two_leases_of_one_pool_never_share_elements()
    {
        using BufferLease<int> first = _pool.Rent(50);
        using BufferLease<int> second = _pool.Rent(50);
        first.Span.Fill(1);
        second.Span.Fill(2);
        Assert.Equal(-1, first.Span.IndexOfAnyExcept(1));
    }

    [Fact]
    public void Return_on_a_retired_ticket_throws()
    {
        BufferLease<int> lease = _pool.Rent(10);
        lease.Return();
        PoolMisuseException misuse = Assert.Throws<PoolMisuseException>(() => lease.Return());
        Assert.Equal(MisuseKind.DoubleReturn, misuse.Kind);
        Assert.Equal("leases", misuse.PoolName);
        Assert.Contains("leases", misuse.Message, StringComparison.Ordinal);
        Assert.Equal(1, _pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn));
        Assert.Equal(1, _pool.GetStatistics().Returned);
    }

    [Fact]
    public void Return_after_Dispose_throws()
    {
        BufferLease<int> lease = _pool.Rent(10);
        lease.Dispose();
        Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    [Fact]
    public void Return_after_ToOwner_throws_and_leaves_the_owner_alone()
    {
        BufferLease<int> lease = _pool.Rent(10);
        using IMemoryOwner<int> owner = lease.ToOwner();
        Assert.Throws<PoolMisuseException>(() => lease.Return());
        owner.Memory.Span.Fill(3);
        Assert.Equal(10, owner.Memory.Length);
        Assert.Equal(1, _pool.GetStatistics().Leased);
    }

    [Fact]
    public void Return_after_Detach_throws()
    {
        BufferLease<int> lease = _pool.Rent(10);
        _ = lease.Detach();
        Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    [Fact]
    public void Return_of_a_retired_ticket_whose_buffer_was_rented_again_throws_and_leaves_the_new_renter_alone()
    {
        BufferLease<int> old = _pool.Rent(100);
        old.Span.Fill(1);
        old.Return();
        BufferLease<int> current = _pool.Rent(100);
        current.Span.Fill(2);
        Assert.Throws<PoolMisuseException>(() => old.Return());
        Assert.True(current.IsActive);
        using (BufferLease<int> other = _pool.Rent(100))
        {
            other.Span.Fill(3);
            Assert.Equal(-1, current.Span.IndexOfAnyExcept(2));
        }

        current.Return();
    }

    [Fact]
    public void Dispose_on_a_retired_ticket_does_nothing_and_is_counted()
    {
        BufferLease<int> lease = _pool.Rent(10);
        lease.Return();
        lease.Dispose();
        lease.Dispose();
        PoolStatistics statistics = _pool.GetStatistics();
        Assert.Equal(2, statistics.StaleDisposes);
        Assert.Equal(1, statistics.Returned);
        Assert.Equal(0, statistics.Misuses);
    }

    [Fact]
    public void Using_after_an_explicit_return_is_fine()
    {
        using (BufferLease<int> lease = _pool.Rent(10))
        {
            lease.Return();
        }

        Assert.Equal(0, _pool.GetStatistics().Leased);
        Assert.Equal(0, _pool.GetStatistics().Misuses);
    }

    [Fact]
    public void Dispose_on_a_retired_ticket_whose_buffer_is_leased_to_someone_else_is_reported_as_misuse()
    {
        BufferLease<int> old = _pool.Rent(100);
        old.Return();
        using BufferLease<int> current = _pool.Rent(100);
        Assert.Same(Array(current), Array(current));
        old.Dispose();
        Assert.True(current.IsActive);
        PoolStatistics statistics = _pool.GetStatistics();
        Assert.Equal(1, statistics.StaleDisposes);
        Assert.Equal(1, statistics.GetMisuse(MisuseKind.StaleDispose));
        Assert.Equal(1, statistics.Leased);
    }

    [Fact]
    public void Span_Memory_and_Segment_on_a_retired_ticket_throw()
    {
        Action<BufferLease<int>>[] ends = [l => l.Return(), l => l.Dispose(), l => l.ToOwner().Dispose(), l => l.Detach()];
        foreach (Action<BufferLease<int>> retire in ends)
        {
            BufferLease<int> lease = _pool.Rent(10);
            retire(lease);
            ObjectDisposedException failure = Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
            Assert.Contains("leases", failure.Message, StringComparison.Ordinal);
            Assert.Throws<ObjectDisposedException>(() => lease.Memory);
            Assert.Throws<ObjectDisposedException>(() => lease.Segment);
            Assert.False(lease.IsActive);
        }
    }

    [Fact]
    public void Span_on_a_retired_ticket_throws_while_the_buffer_is_leased_to_someone_else()
    {
        BufferLease<int> old = _pool.Rent(10);
        old.Return();
        using BufferLease<int> current = _pool.Rent(10);
        Assert.Throws<ObjectDisposedException>(() => old.Span.Length);
        Assert.Equal(10, current.Span.Length);
    }

    [Fact]
    public void The_length_of_a_retired_ticket_can_still_be_read()
    {
        BufferLease<int> lease = _pool.Rent(10);
        lease.Return();
        Assert.Equal(10, lease.Length);
    }

    [Fact]
    public void A_copy_of_a_lease_is_the_same_ticket()
    {
        BufferLease<int> lease = _pool.Rent(10);
        BufferLease<int> copy = lease;
        copy.Span[0] = 5;
        Assert.Equal(5, lease.Span[0]);
        Assert.True(copy.Equals(lease));
        copy.Return();
        Assert.False(lease.IsActive);
        Assert.Throws<PoolMisuseException>(() => lease.Return());
        lease.Dispose();
        Assert.Equal(1, _pool.GetStatistics().Returned);
    }

    [Fact]
    public void Two_rentals_of_one_buffer_are_different_tickets()
    {
        BufferLease<int> first = _pool.Rent(10);
        int[] array = Array(first);
        first.Return();
        using BufferLease<int> second = _pool.Rent(10);
        Assert.Same(array, Array(second));
        Assert.False(first.Equals(second));
    }

    [Fact]
    public void The_default_lease_disposes_silently()
    {
        BufferLease<int> none = default;
        none.Dispose();
        none.Dispose();
        Assert.Equal(0, none.Length);
        Assert.False(none.IsActive);
    }

    [Fact]
    public void The_views_of_the_default_lease_throw()
    {
        Assert.ThrowsAny<InvalidOperationException>(() => default(BufferLease<int>).Span.Length);
        Assert.ThrowsAny<InvalidOperationException>(() => default(BufferLease<int>).Memory);
        Assert.ThrowsAny<InvalidOperationException>(() => default(BufferLease<int>).Segment);
    }

    [Fact]
    public void The_default_lease_cannot_be_returned_moved_or_detached()
    {
        Assert.ThrowsAny<InvalidOperationException>(() => default(BufferLease<int>).Return());
        Assert.ThrowsAny<InvalidOperationException>(() => default(BufferLease<int>).ToOwner());
        Assert.ThrowsAny<InvalidOperationException>(() => default(BufferLease<int>).Detach());
    }

    [Fact]
    public void A_lease_of_length_zero_is_a_real_lease()
    {
        BufferLease<int> lease = _pool.Rent(0);
        Assert.True(lease.IsActive);
        Assert.True(lease.Span.IsEmpty);
        Assert.Equal(1, _pool.GetStatistics().Leased);
        lease.Return();
        Assert.Equal(0, _pool.GetStatistics().Leased);
        Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    [Fact]
    public void ToOwner_moves_the_rental_and_retires_the_ticket()
    {
        BufferLease<int> lease = _pool.Rent(25);
        lease.Span.Fill(9);
        int[] array = Array(lease);
        IMemoryOwner<int> owner = lease.ToOwner();
        Assert.False(lease.IsActive);
        Assert.Equal(25, owner.Memory.Length);
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept(9));
        Assert.True(MemoryMarshal.TryGetArray(owner.Memory, out ArraySegment<int> segment));
        Assert.Same(array, segment.Array);
        PoolStatistics moved = _pool.GetStatistics();
        Assert.Equal((1, 0), (moved.Rented, moved.Returned));

        owner.Dispose();
        PoolStatistics returned = _pool.GetStatistics();
        Assert.Equal((1, 1), (returned.Rented, returned.Returned));
        using BufferLease<int> again = _pool.Rent(25);
        Assert.Same(array, Array(again));
    }

    [Fact]
    public void An_owner_ignores_a_second_Dispose_and_refuses_its_memory_after_the_first()
    {
        IMemoryOwner<int> owner = _pool.Rent(25).ToOwner();
        owner.Dispose();
        owner.Dispose();
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
        Assert.Equal(1, _pool.GetStatistics().Returned);
    }

    [Fact]
    public void A_second_Dispose_of_an_owner_leaves_the_next_renter_alone()
    {
        IMemoryOwner<int> owner = _pool.Rent(25).ToOwner();
        owner.Dispose();
        using BufferLease<int> current = _pool.Rent(25);
        owner.Dispose();
        Assert.True(current.IsActive);
        using BufferLease<int> other = _pool.Rent(25);
        Assert.NotSame(Array(current), Array(other));
    }

    [Fact]
    public void ToOwner_on_a_retired_ticket_throws()
    {
        BufferLease<int> lease = _pool.Rent(10);
        using IMemoryOwner<int> owner = lease.ToOwner();
        Assert.ThrowsAny<InvalidOperationException>(() => lease.ToOwner());
    }

    [Fact]
    public void Dispose_after_ToOwner_does_nothing_to_the_owner()
    {
        BufferLease<int> lease = _pool.Rent(10);
        using IMemoryOwner<int> owner = lease.ToOwner();
        lease.Dispose();
        Assert.Equal(10, owner.Memory.Length);
        Assert.Equal(1, _pool.GetStatistics().Leased);
    }

    [Fact]
    public void Detach_gives_the_buffer_away_for_good()
    {
        BufferLease<int> lease = _pool.Rent(10);
        lease.Span.Fill(4);
        ArraySegment<int> kept = lease.Detach();
        Assert.Equal(10, kept.Count);
        Assert.Equal(-1, kept.AsSpan().IndexOfAnyExcept(4));
        Assert.False(lease.IsActive);
        PoolStatistics statistics = _pool.GetStatistics();
        Assert.Equal(0, statistics.Leased);
        Assert.Equal(0, statistics.BytesLeased);
        for (int i = 0; i < 40; i++)
        {
            using BufferLease<int> other = _pool.Rent(10);
            other.Span.Fill(i);
            Assert.NotSame(kept.Array, Array(other));
        }

        Assert.Equal(-1, kept.AsSpan().IndexOfAnyExcept(4));
    }

    [Fact]
    public void Detach_on_a_retired_ticket_throws()
    {
        BufferLease<int> lease = _pool.Rent(10);
        _ = lease.Detach();
        Assert.ThrowsAny<InvalidOperationException>(() => lease.Detach());
        BufferLease<int> returned = _pool.Rent(10);
        returned.Return();
        Assert.ThrowsAny<InvalidOperationException>(() => returned.Detach());
    }

    [Fact]
    public void Dispose_after_Detach_does_nothing()
    {
        BufferLease<int> lease = _pool.Rent(10);
        _ = lease.Detach();
        lease.Dispose();
        Assert.Equal(1, _pool.GetStatistics().Returned);
        Assert.Equal(1, _pool.GetStatistics().StaleDisposes);
    }

    [Fact]
    public void A_lease_may_be_returned_on_another_thread()
    {
        BufferLease<int> lease = _pool.Rent(10);
        Threads.Run(() => lease.Return());
        Assert.False(lease.IsActive);
        Assert.Throws<PoolMisuseException>(() => lease.Return());
        Assert.Throws<PoolMisuseException>(() => Threads.Run(() => lease.Return()));
        PoolStatistics statistics = _pool.GetStatistics();
        Assert.Equal((1, 1), (statistics.Rented, statistics.Returned));
    }

    [Fact]
    public void Memory_that_was_taken_before_the_return_stays_readable()
    {
        BufferLease<int> lease = _pool.Rent(10);
        Memory<int> memory = lease.Memory;
        lease.Return();
        Assert.Equal(10, memory.Span.Length);
    }

    [Fact]
    public void Segment_throws_where_the_source_has_no_arrays()
    {
        using NativeTestSource<int> source = new();
        BufferPool<int> pool = NewPool<int>(new() { Name = "native", Source = source });
        BufferLease<int> lease = pool.Rent(10);
        Assert.Throws<NotSupportedException>(() => lease.Segment);
        lease.Span.Fill(6);
        Assert.Equal(-1, lease.Memory.Span.IndexOfAnyExcept(6));
        Assert.Equal(10, lease.Memory.Length);
        lease.Return();
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        pool.Trim();
        Assert.Equal(0, source.Live);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Disposing_the_manager_behind_the_memory_of_a_lease_does_not_return_it(bool isNative)
    {
        using NativeTestSource<int> source = new();
        BufferPool<int> pool = isNative
            ? NewPool<int>(new() { Name = "managed by a lease", Source = source })
            : NewPool<int>(new() { Name = "checked by a lease", Checks = PoolChecks.Full });
        BufferLease<int> lease = pool.Rent(10);
        Assert.True(MemoryMarshal.TryGetMemoryManager<int, MemoryManager<int>>(lease.Memory, out MemoryManager<int>? manager));
        ((IDisposable)manager).Dispose();
        Assert.True(lease.IsActive);
        Assert.Equal(0, pool.GetStatistics().Returned);
        manager.GetSpan()[9] = 3;
        Assert.Equal(3, lease.Span[9]);
        lease.Return();
        Assert.Throws<ObjectDisposedException>(() => manager.GetSpan().Length);
    }

    private static int[] Array(BufferLease<int> lease) => lease.Segment.Array!;
}
