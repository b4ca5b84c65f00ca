using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

/// <summary>What a thread returns for others, once it has returned enough of it to wait with posting.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class OutboxTests : PoolTest
{
    private const int Posted = 15; // returns for others that are posted at once; more wait
    private const int Burst = 1000; // more than a narrow inbox takes, 256 in its ring and again in its stack
    private const int Made = Burst + 1; // one waits in the outbox while the burst is rented
    private const int WideBytes = 2 * (1024 - 256) * 1024; // as many in the stack, and again in the surplus

    [Fact]
    public void What_waits_is_idle_and_goes_with_a_trim()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread other = new();
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        ReturnOn(other, leases);
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0L, Posted + 5L, 20L * 1024), (statistics.Leased, statistics.Idle, statistics.BytesIdle));
        pool.Validate();

        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        Assert.Equal(source.Born, source.Dead);
    }

    [Fact]
    public void What_waits_goes_by_itself_while_its_thread_sleeps()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread other = new();
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        ReturnOn(other, leases);
        for (int epoch = 0; epoch < 40; epoch++) // each gives up half of what was not reached
        {
            Trimmer.Epoch(all: false);
        }

        Assert.Equal(0, pool.GetStatistics().Idle);
        Assert.Equal(source.Born, source.Dead);
    }

    [Fact]
    public void A_full_outbox_is_posted_and_its_home_rents_the_same_buffers_again()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread other = new();
        for (int round = 0; round < 5; round++)
        {
            BufferLease<byte>[] leases = RentSome(pool, Posted + 14);
            ReturnOn(other, leases);
        }

        // 15 at once and then 14 together; later rounds leave at most one outbox behind.
        Assert.InRange(source.Born, Posted + 14, Posted + 14 + 14);
        pool.Validate();
    }

    [Fact]
    public void What_waits_comes_home_when_its_thread_ends()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        Threads.Run(() => Array.ForEach(leases, static lease => lease.Return()));
        ThreadTier.ReapDead();
        Array.ForEach(RentSome(pool, Posted + 5), static lease => lease.Return());
        Assert.Equal(Posted + 5, source.Born);
    }

    [Fact]
    public void The_limit_of_an_inbox_holds_for_the_outbox_of_a_thread_that_ends()
    {
        const int Length = 64 << 10;
        const int InboxLimit = 16; // as many in the ring, and again in the stack; three wait in an outbox
        BufferPool<byte> pool = NewPool<byte>();
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 2 * InboxLimit).Select(_ => pool.Rent(Length))];
        SharedTier shared = pool.Core.FindBucket(Length)!.Shared;
        Threads.Run(() => Array.ForEach(leases, static lease => lease.Return()));
        Assert.Equal(0, shared.Count().Idle); // two are in the outbox
        ThreadTier.ReapDead();
        Assert.Equal(2 * InboxLimit, shared.Count().Idle);
        Assert.Equal(2 * InboxLimit, pool.GetStatistics().Idle);
    }

    [Fact]
    public void A_burst_waits_in_an_inbox_and_is_charged_until_the_next_trim()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 64 << 20 });
        using ParkedThread other = new();
        long before = ReturnBurst(pool, other);
        Assert.Equal((0, Made), (SharedOf(pool).Count().Idle, pool.GetStatistics().Idle));
        Assert.Equal(before + WideBytes, pool.Core.Budget.Used);
        pool.Validate();

        pool.Trim();
        Assert.Equal(before, pool.Core.Budget.Used);
        Assert.Equal(0, pool.GetStatistics().Idle);
        Assert.Equal(before, ReturnBurst(pool, other));
        Assert.Equal(before + WideBytes, pool.Core.Budget.Used);
    }

    [Fact]
    public void An_epoch_leaves_no_more_of_a_burst_than_needs_no_charge_also_on_a_busy_thread()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 64 << 20 });
        using ParkedThread other = new();
        for (int epoch = 0; epoch < 4; epoch++)
        {
            long before = ReturnBurst(pool, other);
            for (int i = 0; i < 2 * Burst; i++)
            {
                pool.Rent(1000).Return(); // so that every idle buffer may have been reached
            }

            Trimmer.Epoch(all: false);
            Assert.Equal(before, pool.Core.Budget.Used);
            Assert.InRange(pool.GetStatistics().Idle, 256, 256 + 15 + 14);
        }
    }

    [Fact]
    public void A_burst_of_buffers_that_hold_references_is_cleared_by_the_next_rental()
    {
        BufferPool<object> pool = NewPool<object>();
        using ParkedThread other = new();
        BufferLease<object>[] leases = [.. Enumerable.Range(0, 200).Select(_ => pool.Rent(100))];
        object[][] arrays = Array.ConvertAll(leases, static lease => lease.Segment.Array!);
        Array.ForEach(leases, static lease => lease.Span[0] = "kept");
        ReturnOn(other, leases);
        pool.Rent(100).Return();
        Assert.All(arrays, static array => Assert.Null(array[0]));
    }

    [Fact]
    public void The_charge_of_a_burst_ends_with_its_pool()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 64 << 20 });
        using ParkedThread other = new();
        ReturnBurst(pool, other);
        pool.Dispose();
        Assert.Equal(0, pool.Core.Budget.Used);
    }

    [Fact]
    public void A_burst_that_would_take_half_of_the_budget_moves_to_the_shared_tier()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 2 * WideBytes });
        using ParkedThread other = new();
        ReturnBurst(pool, other);
        Assert.InRange(SharedOf(pool).Count().Idle, 512, Made);
        Assert.Equal(Made, pool.GetStatistics().Idle);
        pool.Validate();
    }

    [Fact]
    public void A_lease_in_an_outbox_is_retired_for_every_copy()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using ParkedThread other = new();
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        ReturnOn(other, leases);
        Assert.All(leases, static lease => Assert.False(lease.IsActive));
        Assert.Throws<ObjectDisposedException>(() => leases[^1].Span.Length);
        Assert.Throws<PoolMisuseException>(() => leases[^1].Return());
        Assert.Throws<PoolMisuseException>(() => other.Run(() => leases[^1].Return()));
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void A_pool_that_ends_gives_what_waits_to_its_source()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread other = new();
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        ReturnOn(other, leases);
        pool.Dispose();
        Assert.Equal(source.Born, source.Dead);
    }

    [Fact]
    public void The_places_of_an_outbox_are_charged_and_refunded()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 1 << 20 });
        using ParkedThread other = new();
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        long before = other.Run(() =>
        {
            pool.Rent(1000).Return();
            return pool.Core.Budget.Used;
        });
        ReturnOn(other, leases);
        Assert.Equal(before + (14 * 1024), pool.Core.Budget.Used);
        pool.Dispose();
        Assert.Equal(0, pool.Core.Budget.Used);
    }

    [Fact]
    public void Without_room_for_an_outbox_each_is_posted_at_once()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source, Budget = 36 << 10 });
        using ParkedThread other = new();
        BufferLease<byte>[] leases = RentSome(pool, Posted + 5);
        ReturnOn(other, leases);
        Array.ForEach(RentSome(pool, Posted + 5), static lease => lease.Return());
        Assert.Equal(Posted + 5, source.Born);
    }

    /// <summary>Rents many buffers and returns them on the other thread, whose magazine and outbox are made first.</summary>
    /// <returns>What was charged for both threads before the burst.</returns>
    private static long ReturnBurst(BufferPool<byte> pool, ParkedThread other)
    {
        BufferLease<byte>[] first = RentSome(pool, Posted + 1);
        ReturnOn(other, first);
        BufferLease<byte>[] leases = RentSome(pool, Burst);
        long before = pool.Core.Budget.Used;
        ReturnOn(other, leases);
        return before;
    }

    private static void ReturnOn<T>(ParkedThread thread, BufferLease<T>[] leases) =>
        thread.Run(() => Array.ForEach(leases, static lease => lease.Return()));

    private static SharedTier SharedOf(BufferPool<byte> pool) => pool.Core.FindBucket(1000)!.Shared;

    private static BufferLease<byte>[] RentSome(BufferPool<byte> pool, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => pool.Rent(1000))];
}
