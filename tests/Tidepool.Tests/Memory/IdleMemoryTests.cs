using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

/// <summary>Time passes by calls of the trimmer's epoch: what its clock does every ten seconds.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class IdleMemoryTests : PoolTest
{
    [Fact]
    public void Idle_memory_falls_below_a_tenth_within_six_epochs_with_every_renter_parked()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "idle" });
        ParkedThread[] renters = [new(), new(), new()];
        try
        {
            WeakReference[] buffers = [.. renters.SelectMany(r => r.Run(() => Fill(pool)))];
            long held = pool.GetStatistics().BytesIdle;
            Assert.True(held > 5 << 20, $"{held} bytes");
            for (int epoch = 0; epoch < 6; epoch++)
            {
                Trimmer.Epoch(all: false);
            }

            Assert.InRange(pool.GetStatistics().BytesIdle, 0, held / 10);
            Eventually.Collect();
            Assert.InRange(buffers.Count(b => b.IsAlive), 0, buffers.Length / 10);
        }
        finally
        {
            Array.ForEach(renters, r => r.Dispose());
        }
    }

    [Fact]
    public void What_is_in_use_survives_the_epochs()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "busy" });
        pool.Rent(1000).Return();
        for (int epoch = 0; epoch < 20; epoch++)
        {
            pool.Rent(1000).Return();
            Trimmer.Epoch(all: false);
        }

        // One buffer that is used between any two epochs need never be made again.
        Assert.Equal(1, pool.GetStatistics().Missed);
    }

    [Fact]
    public void Everything_idle_goes_at_once_under_memory_pressure()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "pressed" });
        using ParkedThread renter = new();
        renter.Run(() => Fill(pool));
        Trimmer.Epoch(all: true);
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void The_clock_stops_when_nothing_is_idle_and_starts_with_the_next_rental()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "clock" });
        pool.Rent(1000).Return();
        Assert.True(Trimmer.IsRunning);
        Eventually.TrueAfterCollections(
            () =>
            {
                Trimmer.Epoch(all: true);
                return !Trimmer.IsRunning;
            },
            "the clock to stop");
        pool.Rent(1000).Return();
        Assert.True(Trimmer.IsRunning);
    }

    [Fact]
    [Trait("Category", "Slow")]
    [Trait("Category", "Environment")]
    public void The_clock_itself_empties_an_idle_pool()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "left alone" });
        using ParkedThread renter = new();
        renter.Run(() => Fill(pool));
        long held = pool.GetStatistics().BytesIdle;
        long deadline = Environment.TickCount64 + 120_000;
        Trimmer.IsAutomatic = true;
        try
        {
            while (pool.GetStatistics().BytesIdle is var idle && idle > held / 10)
            {
                Assert.True(Environment.TickCount64 < deadline, $"{idle} of {held} bytes are still idle after two minutes.");
                Thread.Sleep(500);
            }
        }
        finally
        {
            Trimmer.IsAutomatic = false;
        }
    }

    [Fact]
    public void A_rental_on_one_thread_returned_on_another_keeps_bounded_memory()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread consumer = new();
        BufferLease<byte>[] batch = new BufferLease<byte>[16];
        for (int round = 0; round < 5000; round++)
        {
            for (int i = 0; i < batch.Length; i++)
            {
                batch[i] = pool.Rent(4096);
            }

            consumer.Run(() =>
            {
                foreach (BufferLease<byte> lease in batch)
                {
                    lease.Return();
                }
            });
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((80_000, 80_000), (statistics.Rented, statistics.Returned));
        Assert.InRange(source.Born, 16, 1000);
        Assert.InRange(statistics.BytesIdle, 1, 4 << 20);
    }

    [Fact]
    public void Buffers_that_pile_up_at_a_thread_which_rents_no_more_reach_the_others()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        using ParkedThread producer = new();
        BufferLease<byte>[] leases = producer.Run(() => Enumerable.Range(0, 2000).Select(_ => pool.Rent(4096)).ToArray());
        Array.ForEach(leases, l => l.Return());
        Assert.Equal(2000, source.Born);

        // The producer is parked; what came home to it in such numbers must not wait for it alone.
        BufferLease<byte>[] mine = [.. Enumerable.Range(0, 1000).Select(_ => pool.Rent(4096))];
        Assert.InRange(source.Born, 2000, 2300);
        Array.ForEach(mine, l => l.Return());
    }

    [Fact]
    public void Raw_arrays_rented_on_one_thread_and_returned_on_another_keep_bounded_memory()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using ParkedThread consumer = new();
        byte[][] batch = new byte[16][];
        for (int round = 0; round < 5000; round++)
        {
            for (int i = 0; i < batch.Length; i++)
            {
                batch[i] = pool.AsArrayPool().Rent(4096);
            }

            consumer.Run(() =>
            {
                foreach (byte[] array in batch)
                {
                    pool.AsArrayPool().Return(array);
                }
            });
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.InRange(statistics.Missed, 16, 1000);
        Assert.InRange(statistics.BytesIdle, 1, 4 << 20);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] Fill(BufferPool<byte> pool)
    {
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 200).Select(i => pool.Rent(i % 2 == 0 ? 100_000 : 4096))];
        WeakReference[] buffers = [.. leases.Select(l => new WeakReference(l.Segment.Array))];
        Array.ForEach(leases, l => l.Return());
        return buffers;
    }
}
