using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Buffers;

public sealed class StatisticsTests(ITestOutputHelper output) : PoolTest
{
    [Fact]
    public void A_new_pool_has_counted_nothing()
    {
        PoolStatistics statistics = NewPool<byte>().GetStatistics();
        Assert.Equal((0, 0, 0, 0, 0), (statistics.Rented, statistics.Returned, statistics.Missed, statistics.Dropped, statistics.Trimmed));
        Assert.Equal((0, 0, 0, 0), (statistics.BytesIdle, statistics.BytesLeased, statistics.StaleDisposes, statistics.Misuses));
    }

    [Fact]
    public void Rented_is_Returned_plus_Leased_at_every_step()
    {
        Random random = Seeds.New(output);
        BufferPool<int> pool = NewPool<int>();
        List<BufferLease<int>> live = [];
        long rented = 0;
        long returned = 0;
        for (int step = 0; step < 5000; step++)
        {
            if (live.Count > 0 && random.Next(2) == 0)
            {
                live[^1].Return();
                live.RemoveAt(live.Count - 1);
                returned++;
            }
            else
            {
                live.Add(pool.Rent(random.Next(500)));
                rented++;
            }

            PoolStatistics now = pool.GetStatistics();
            Assert.Equal(rented, now.Rented);
            Assert.Equal(returned, now.Returned);
            Assert.Equal(live.Count, now.Leased);
        }

        live.ForEach(l => l.Return());
    }

    [Fact]
    public void Every_buffer_that_was_made_is_idle_leased_dropped_trimmed_or_detached()
    {
        Random random = Seeds.New(output);
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source, Budget = 1 << 16, Sizes = SizeClasses.FromLengths(1024) });
        List<BufferLease<byte>> live = [];
        long detached = 0;
        for (int step = 0; step < 5000; step++)
        {
            switch (random.Next(12))
            {
                case < 6:
                    live.Add(pool.Rent(1000));
                    break;
                case < 10 when live.Count > 0:
                    live[0].Return();
                    live.RemoveAt(0);
                    break;
                case 10 when live.Count > 0:
                    _ = live[0].Detach();
                    detached++;
                    live.RemoveAt(0);
                    break;
                case 11 when step % 50 == 0:
                    pool.Trim();
                    break;
            }

            if (step % 20 == 0)
            {
                PoolStatistics now = pool.GetStatistics();
                Assert.Equal(source.Born, now.Missed);
                Assert.Equal(source.Dead, now.Dropped + now.Trimmed);
                Assert.Equal(live.Count * 1024, now.BytesLeased);
                Assert.Equal(source.Born, (now.BytesIdle / 1024) + live.Count + source.Dead + detached);
            }
        }

        live.ForEach(l => l.Return());
    }

    [Fact]
    public void Counts_of_threads_that_have_ended_are_kept()
    {
        BufferPool<byte> pool = NewPool<byte>();
        for (int i = 0; i < 20; i++)
        {
            Threads.Run(() => pool.Rent(100).Return());
        }

        Eventually.Collect();
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((20, 20), (statistics.Rented, statistics.Returned));
    }

    [Fact]
    public void Rentals_of_all_kinds_are_counted_alike()
    {
        BufferPool<byte> pool = NewPool<byte>();
        pool.Rent(10).Return();
        pool.RentScope(10).Dispose();
        pool.AsArrayPool().Return(pool.AsArrayPool().Rent(10));
        pool.AsMemoryPool().Rent(10).Dispose();
        pool.Rent(10).ToOwner().Dispose();
        _ = pool.Rent(10).Detach();
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((6, 6), (statistics.Rented, statistics.Returned));
        Assert.Equal(0, statistics.BytesLeased);
    }

    [Fact]
    public void Counts_of_several_threads_add_up()
    {
        BufferPool<byte> pool = NewPool<byte>();
        Threads.RunAll(4, thread =>
        {
            for (int i = 0; i < 10_000; i++)
            {
                pool.Rent((i + thread) % 300).Return();
            }
        });
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((40_000, 40_000), (statistics.Rented, statistics.Returned));
        Assert.Equal(0, statistics.BytesLeased);
    }

    [Fact]
    public void Misuse_is_counted_by_kind()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Checks = PoolChecks.Off });
        BufferLease<byte> lease = pool.Rent(10);
        lease.Return();
        lease.Return();
        lease.Return();
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(2, statistics.GetMisuse(MisuseKind.DoubleReturn));
        Assert.Equal(0, statistics.GetMisuse(MisuseKind.ForeignReturn));
        Assert.Equal(2, statistics.Misuses);
    }
}
