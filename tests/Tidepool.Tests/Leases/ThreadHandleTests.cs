using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

public sealed class ThreadHandleTests : PoolTest
{
    private readonly BufferPool<int> _pool;

    public ThreadHandleTests() => _pool = NewPool<int>(new() { Name = "handles", Checks = PoolChecks.Default });

    [Fact]
    public void A_handle_rents_exact_lengths_up_to_its_longest()
    {
        using ThreadHandle<int> handle = _pool.GetThreadHandle(1000);
        Assert.Equal(1000, handle.MaxLength);
        foreach (int length in (int[])[0, 1, 16, 999, 1000])
        {
            BufferLease<int> lease = handle.Rent(length);
            Assert.Equal(length, lease.Span.Length);
            lease.Span.Fill(length);
            handle.Return(lease);
            Assert.False(lease.IsActive);
        }
    }

    [Fact]
    public void A_length_out_of_range_is_refused()
    {
        using ThreadHandle<int> handle = _pool.GetThreadHandle(1000);
        Assert.Throws<ArgumentOutOfRangeException>("length", Fresh(-1));
        Assert.Throws<ArgumentOutOfRangeException>("length", Fresh(1001));
        Assert.Throws<ArgumentOutOfRangeException>(() => _pool.GetThreadHandle(-1).Dispose());

        Action Fresh(int length) => () =>
        {
            using ThreadHandle<int> inner = _pool.GetThreadHandle(1000);
            inner.Rent(length);
        };
    }

    [Fact]
    public void Rentals_of_a_handle_are_in_the_statistics_when_it_is_disposed()
    {
        using (ThreadHandle<int> handle = _pool.GetThreadHandle(100))
        {
            for (int i = 0; i < 50; i++)
            {
                handle.Return(handle.Rent(100));
            }
        }

        PoolStatistics statistics = _pool.GetStatistics();
        Assert.Equal((50, 50), (statistics.Rented, statistics.Returned));
        Assert.Equal(0, statistics.BytesLeased);
        Assert.NotEqual(0, statistics.BytesIdle);
    }

    [Fact]
    public void The_stock_goes_back_to_the_pool_when_the_handle_is_disposed()
    {
        HashSet<int[]> stock = [];
        using (ThreadHandle<int> handle = _pool.GetThreadHandle(100))
        {
            BufferLease<int>[] leases = [handle.Rent(100), handle.Rent(100), handle.Rent(100)];
            foreach (BufferLease<int> lease in leases)
            {
                stock.Add(lease.Segment.Array!);
                handle.Return(lease);
            }
        }

        BufferLease<int>[] again = [_pool.Rent(100), _pool.Rent(100), _pool.Rent(100)];
        Assert.All(again, lease => Assert.Contains(stock, array => ReferenceEquals(array, lease.Segment.Array)));
        Array.ForEach(again, l => l.Return());
    }

    [Fact]
    public void Handles_that_were_dropped_give_their_charge_and_their_stock_back()
    {
        BufferPool<int> pool = NewPool<int>(new() { Budget = 64 << 20, Checks = PoolChecks.Default });
        Assert.InRange(DropHandles(pool, 100), 1024, long.MaxValue);
        Eventually.TrueAfterCollections(() => pool.GetStatistics().Returned == 200, "the dropped handles to be found");
        pool.Trim();
        Assert.Equal((200, 0), (pool.GetStatistics().Rented, pool.GetStatistics().Idle));
        Assert.Equal(0, pool.Core.Budget.Used);
        pool.Validate();

        // The least that the budget was charged while a handle was there; those before it may be found at any moment.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static long DropHandles(BufferPool<int> pool, int count)
        {
            long least = long.MaxValue;
            for (int i = 0; i < count; i++)
            {
                ThreadHandle<int> handle = pool.GetThreadHandle(100);
                BufferLease<int> one = handle.Rent(100);
                BufferLease<int> other = handle.Rent(100);
                handle.Return(one);
                least = Math.Min(least, pool.Core.Budget.Used);
                handle.Return(other);
            }

            return least;
        }
    }

    [Fact]
    public void Handles_that_are_held_at_once_are_charged_each()
    {
        const int Count = 100;
        BufferPool<int> pool = NewPool<int>(new() { Budget = 64 << 20, Checks = PoolChecks.Default });
        Assert.InRange(ChargeOf(pool, Count), Count * 1024, 64 << 20);
        Assert.Equal(0, pool.Core.Budget.Used);

        // A handle cannot leave its frame, so each frame holds one.
        static long ChargeOf(BufferPool<int> pool, int handles)
        {
            if (handles == 0)
            {
                return pool.Core.Budget.Used;
            }

            using ThreadHandle<int> handle = pool.GetThreadHandle(100);
            return ChargeOf(pool, handles - 1);
        }
    }

    [Fact]
    public void What_other_threads_return_stays_within_the_budget_while_the_handle_lives()
    {
        const int Length = 64 << 10;
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 16 * Length });
        using ThreadHandle<byte> handle = pool.GetThreadHandle(Length);
        BufferLease<byte>[] leases = new BufferLease<byte>[300];
        for (int i = 0; i < leases.Length; i++)
        {
            leases[i] = handle.Rent(Length);
        }

        Threads.Run(() => Array.ForEach(leases, static lease => lease.Return()));
        Assert.InRange(pool.GetStatistics().Dropped, 300 - 16 - 16, 300); // at most the budget and the ring of the inbox are kept
        Assert.InRange(pool.GetStatistics().BytesIdle, 0, 16 * Length);
        Array.ForEach(leases, static lease => Assert.Throws<PoolMisuseException>(lease.Return));
        using BufferLease<byte> again = handle.Rent(Length);
        again.Span.Fill(1);
    }

    [Fact]
    public void A_lease_of_a_handle_may_be_disposed_like_any_other()
    {
        using ThreadHandle<int> handle = _pool.GetThreadHandle(100);
        BufferLease<int> here = handle.Rent(100);
        here.Dispose();
        BufferLease<int> there = handle.Rent(100);
        Threads.Run(() => there.Return());
        Assert.False(here.IsActive);
        Assert.False(there.IsActive);
    }

    [Fact]
    public void A_lease_of_a_handle_outlives_it()
    {
        BufferLease<int> lease;
        BufferLease<int> other;
        using (ThreadHandle<int> handle = _pool.GetThreadHandle(100))
        {
            lease = handle.Rent(100);
            other = handle.Rent(100);
        }

        lease.Span.Fill(3);
        other.Span.Fill(4);
        Assert.Equal(-1, lease.Span.IndexOfAnyExcept(3));
        lease.Return();
        Threads.Run(() => other.Return());
        Assert.Equal(0, _pool.GetStatistics().Leased);
        Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    [Fact]
    public void A_handle_takes_a_lease_from_elsewhere_to_where_it_came_from()
    {
        BufferPool<int> elsewhere = NewPool<int>(new() { Name = "elsewhere" });
        using ThreadHandle<int> handle = _pool.GetThreadHandle(100);
        handle.Return(elsewhere.Rent(100));
        handle.Return(_pool.Rent(100));
        Assert.Equal(0, elsewhere.GetStatistics().Leased);
    }

    [Fact]
    public void A_second_return_to_a_handle_throws()
    {
        using ThreadHandle<int> handle = _pool.GetThreadHandle(100);
        BufferLease<int> lease = handle.Rent(100);
        handle.Return(lease);
        Exception? failure = null;
        try
        {
            handle.Return(lease);
        }
        catch (PoolMisuseException misuse)
        {
            failure = misuse;
        }

        Assert.NotNull(failure);
        BufferLease<int> first = handle.Rent(100);
        BufferLease<int> second = handle.Rent(100);
        Assert.NotSame(first.Segment.Array, second.Segment.Array);
        handle.Return(first);
        handle.Return(second);
    }

    [Fact]
    public void A_disposed_handle_and_the_default_one_rent_nothing()
    {
        Assert.Throws<ObjectDisposedException>(() =>
        {
            ThreadHandle<int> handle = _pool.GetThreadHandle(100);
            handle.Dispose();
            handle.Dispose();
            handle.Rent(100);
        });
        Assert.Throws<ObjectDisposedException>(() => default(ThreadHandle<int>).Rent(0));
        default(ThreadHandle<int>).Dispose();
    }

    [Fact]
    public void More_rentals_than_the_stock_holds_are_served_and_kept()
    {
        using ThreadHandle<int> handle = _pool.GetThreadHandle(100);
        for (int round = 0; round < 3; round++)
        {
            List<BufferLease<int>> leases = [];
            for (int i = 0; i < 100; i++)
            {
                BufferLease<int> lease = handle.Rent(100);
                lease.Span.Fill(i);
                leases.Add(lease);
            }

            for (int i = 0; i < leases.Count; i++)
            {
                Assert.Equal(-1, leases[i].Span.IndexOfAnyExcept(i));
                handle.Return(leases[i]);
            }
        }
    }

    [Fact]
    public void Two_handles_and_their_pool_never_share_a_buffer()
    {
        using ThreadHandle<int> first = _pool.GetThreadHandle(100);
        using ThreadHandle<int> second = _pool.GetThreadHandle(100);
        for (int round = 0; round < 100; round++)
        {
            BufferLease<int> a = first.Rent(100);
            BufferLease<int> b = second.Rent(100);
            BufferLease<int> c = _pool.Rent(100);
            a.Span.Fill(1);
            b.Span.Fill(2);
            c.Span.Fill(3);
            Assert.Equal((1, 2, 3), (a.Span[50], b.Span[50], c.Span[50]));
            first.Return(b); // to the other handle: it finds its way
            second.Return(a);
            c.Return();
        }
    }

    [Fact]
    public void A_handle_of_elements_with_references_clears_on_return()
    {
        BufferPool<string> pool = NewPool<string>();
        using ThreadHandle<string> handle = pool.GetThreadHandle(100);
        BufferLease<string> lease = handle.Rent(100);
        string[] array = lease.Segment.Array!;
        lease.Span.Fill("kept alive");
        handle.Return(lease);
        Assert.True(Array.TrueForAll(array, element => element is null));
    }

    [Fact]
    public void A_pool_that_does_something_on_every_rental_gives_no_handle()
    {
        Assert.Throws<NotSupportedException>(() => NewPool<int>(new() { Checks = PoolChecks.Full }).GetThreadHandle(10).Dispose());
        Assert.Throws<NotSupportedException>(() => NewPool<int>(new() { Secrets = true }).GetThreadHandle(10).Dispose());
    }

    [Fact]
    public void A_handle_of_a_disposed_pool_gives_its_buffers_to_the_source()
    {
        CountingSource<int> source = new();
        BufferPool<int> pool = NewPool<int>(new() { Source = source });
        using (ThreadHandle<int> handle = pool.GetThreadHandle(100))
        {
            handle.Return(handle.Rent(100));
            pool.Dispose();
        }

        Assert.Equal(source.Born, source.Dead);
    }
}
