using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Memory;

[Collection(SharedPoolsCollection.Name)]
public sealed class ThreadsThatEndTests(ITestOutputHelper output) : PoolTest
{
    [Fact]
    public void A_thread_that_ends_gives_its_idle_buffers_to_the_others()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        Threads.Run(() =>
        {
            BufferLease<byte>[] leases = [.. Enumerable.Range(0, 10).Select(_ => pool.Rent(1000))];
            Array.ForEach(leases, l => l.Return());
        });
        ThreadTier.ReapDead();
        BufferLease<byte>[] mine = [.. Enumerable.Range(0, 10).Select(_ => pool.Rent(1000))];
        Assert.Equal(10, source.Born);
        Array.ForEach(mine, l => l.Return());
    }

    [Fact]
    public void A_thread_that_ends_gives_its_idle_raw_arrays_to_the_others()
    {
        BufferPool<byte> pool = NewPool<byte>();
        HashSet<byte[]> there = [];
        Threads.Run(() =>
        {
            for (int i = 0; i < 10; i++)
            {
                there.Add(pool.AsArrayPool().Rent(1000));
            }

            foreach (byte[] array in there)
            {
                pool.AsArrayPool().Return(array);
            }
        });
        ThreadTier.ReapDead();
        byte[][] mine = [.. Enumerable.Range(0, 10).Select(_ => pool.AsArrayPool().Rent(1000))];
        Assert.All(mine, array => Assert.Contains(there, other => ReferenceEquals(other, array)));
        Array.ForEach(mine, a => pool.AsArrayPool().Return(a));
    }

    [Fact]
    public void Idle_memory_of_ended_threads_falls_without_any_call_of_a_renter()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        for (int i = 0; i < 10; i++)
        {
            Threads.Run(() => pool.Rent(100_000).Return());
        }

        Assert.NotEqual(0, pool.GetStatistics().BytesIdle);
        for (int epoch = 0; epoch < 10; epoch++)
        {
            Trimmer.Epoch(all: false);
        }

        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        Assert.Equal(source.Born, source.Dead);
    }

    [Fact]
    public void Ten_thousand_short_lived_threads_keep_bounded_memory()
    {
        CountingSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(new() { Source = source });
        long most = 0;
        for (int batch = 0; batch < 1250; batch++)
        {
            Threads.RunAll(8, thread =>
            {
                BufferLease<byte> first = pool.Rent(4096);
                BufferLease<byte> second = pool.Rent(100);
                first.Span.Fill((byte)thread);
                Assert.Equal(-1, first.Span.IndexOfAnyExcept((byte)thread));
                first.Return();
                second.Return();
            });
            most = Math.Max(most, pool.GetStatistics().BytesIdle);
        }

        // Each thread leaves two buffers. Kept for every thread they would be 42 MB; those of a few hundred threads are fine.
        Assert.InRange(most, 1, 4 << 20);
        Assert.InRange(source.Born, 1, 2000);
        Assert.InRange(ThreadTier.ShardCount, 0, 500);
        ThreadTier.ReapDead();
        Assert.InRange(ThreadTier.ShardCount, 0, 100);
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((20_000, 20_000), (statistics.Rented, statistics.Returned));
    }

    [Fact]
    public void A_lease_outlives_the_thread_that_rented_it()
    {
        BufferPool<int> pool = NewPool<int>();
        List<BufferLease<int>> leases = [];
        for (int i = 0; i < 20; i++)
        {
            leases.Add(Threads.Run(() =>
            {
                BufferLease<int> lease = pool.Rent(1000);
                lease.Span.Fill(i);
                return lease;
            }));
            if (i % 5 == 0)
            {
                ThreadTier.ReapDead();
            }
        }

        for (int i = 0; i < leases.Count; i++)
        {
            Assert.Equal(-1, leases[i].Span.IndexOfAnyExcept(i));
            leases[i].Return();
            Assert.Throws<PoolMisuseException>(() => leases[i].Return());
        }

        Assert.Equal(0, pool.GetStatistics().BytesLeased);
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    /// <summary>
    /// An ended thread's stack memory may become the stacks of several new threads at once. Whatever a pool concludes from the address of
    /// a local, two of them must not both pass for the ended one. A child process, because the layout of this one has been shuffled.
    /// </summary>
    [Fact]
    [Trait("Category", "Environment")]
    public void Several_threads_on_the_stack_memory_of_an_ended_one_may_return_its_leases_at_the_same_time() => RunOnStacks();

    [Fact]
    [Trait("Category", "Slow")]
    [Trait("Category", "Environment")]
    public void Several_threads_on_the_stack_memory_of_an_ended_one_may_return_its_leases_again_and_again()
    {
        for (int run = 0; run < 3; run++)
        {
            RunOnStacks();
        }
    }

    private void RunOnStacks()
    {
        (int code, string printed, string error) = Child.Run(Child.Stacks, checks: null);
        output.WriteLine(printed);
        Assert.True(code == 0, error);
    }
}
