using System.Collections.Concurrent;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Memory;

/// <summary>Whatever threads do, every buffer that was made is given back to its source in the end, once.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class ConservationTests(ITestOutputHelper output) : PoolTest
{
    public static TheoryData<string> Kinds => ["default", "off", "full", "secrets", "large", "tiny budget"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Leases_that_wander_between_threads_that_come_and_go_are_all_given_back(string kind)
    {
        Random random = Seeds.New(output);
        using NativeTestSource<byte> source = new();
        BufferPool<byte> pool = NewPool<byte>(Options(kind, source));
        int longest = kind == "large" ? 20 << 20 : 3000;
        int generations = kind == "large" ? 10 : 60;
        ConcurrentQueue<BufferLease<byte>> wandering = new();
        for (int generation = 0; generation < generations; generation++)
        {
            int seed = random.Next();
            Threads.RunAll(5, thread =>
            {
                Random mine = new(seed + thread);
                for (int i = 0; i < 200; i++)
                {
                    switch (mine.Next(10))
                    {
                        case < 5:
                            BufferLease<byte> lease = pool.Rent(kind == "large" && mine.Next(4) > 0 ? 10 : mine.Next(longest));
                            if (lease.Length > 0)
                            {
                                lease.Span[^1] = (byte)lease.Length;
                            }

                            wandering.Enqueue(lease);
                            break;
                        case 9 when thread == 0:
                            Trimmer.Epoch(all: mine.Next(4) == 0);
                            break;
                        case 8 when thread == 1 && i == 100:
                            pool.Trim();
                            break;
                        default:
                            if (wandering.TryDequeue(out BufferLease<byte> other))
                            {
                                Assert.True(other.Length == 0 || other.Span[^1] == (byte)other.Length);
                                other.Return();
                            }

                            break;
                    }
                }
            });
        }

        foreach (BufferLease<byte> lease in wandering)
        {
            lease.Return();
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(statistics.Rented, statistics.Returned);
        Assert.Equal(0, statistics.BytesLeased);
        Assert.Equal(0, statistics.Misuses);
        pool.Validate();
        pool.Trim();
        Assert.Equal((0, 0), (pool.GetStatistics().BytesIdle, source.Live));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Leases_of_a_pool_that_is_disposed_meanwhile_are_all_given_back(string kind)
    {
        for (int round = 0; round < 40; round++)
        {
            using NativeTestSource<byte> source = new();
            BufferPool<byte> pool = NewPool<byte>(Options(kind, source));
            ConcurrentQueue<BufferLease<byte>> wandering = new();
            Threads.RunAll(4, thread =>
            {
                Random mine = new(round + thread);
                try
                {
                    for (int i = 0; i < 300; i++)
                    {
                        if (thread == 0 && i == 150)
                        {
                            pool.Dispose();
                        }

                        if (mine.Next(2) == 0)
                        {
                            wandering.Enqueue(pool.Rent(mine.Next(1000)));
                        }
                        else if (wandering.TryDequeue(out BufferLease<byte> other))
                        {
                            other.Return();
                        }
                    }
                }
                catch (ObjectDisposedException)
                {
                    // What the test is about.
                }
            });
            foreach (BufferLease<byte> lease in wandering)
            {
                lease.Return();
            }

            Assert.Equal((0, 0), (pool.GetStatistics().Leased, source.Live));
        }
    }

    private static BufferPoolOptions<byte> Options(string kind, BufferSource<byte> source) => kind switch
    {
        "off" => new() { Source = source, Checks = PoolChecks.Off },
        "full" => new() { Source = source, Checks = PoolChecks.Full },
        "secrets" => new() { Source = source, Secrets = true },
        "tiny budget" => new() { Source = source, Budget = 10_000 },
        _ => new() { Source = source, Checks = PoolChecks.Default },
    };
}
