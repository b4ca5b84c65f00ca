using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Tidepool.Labs;

/// <summary>What is measured once about pools of resources.</summary>
internal static class ResourceProbes
{
    /// <summary>Metric: the 99.9th percentile of the waits in turns over their median.</summary>
    public const string Spread = "p99.9_of_p50";

    /// <summary>Metric: the time of a cold burst over the time that the creations need at best.</summary>
    public const string OfIdeal = "of_ideal";

    /// <summary>Metric: threads that the thread pool added meanwhile.</summary>
    public const string ThreadsAdded = "threads_added";

    /// <summary>Metric: failed requests beyond the leases that were out when the server was killed.</summary>
    public const string ErrorsBeyond = "errors_beyond_leases";

    /// <summary>Metric: bytes that a key leaves behind when it was forgotten.</summary>
    public const string BytesPerKey = "bytes_per_key";

    private const int BurstCallers = 100;
    private const int BurstMilliseconds = 20;

    /// <summary>
    /// A hundred callers at once at a cold pool whose creations take 20 ms; each keeps what it gets until all have one. A short burst at
    /// another pool goes before it, so that the runtime compiles nothing meanwhile.
    /// </summary>
    public static Dictionary<string, double> Burst(int creators)
    {
        _ = Burst(creators, 1);
        double milliseconds = Burst(creators, BurstMilliseconds);
        double ideal = (BurstCallers + creators - 1) / creators * (double)BurstMilliseconds;
        return new() { [OfIdeal] = milliseconds / ideal, ["milliseconds"] = milliseconds };
    }

    private static double Burst(int creators, int creation)
    {
        var pool = new ResourcePool<Thing>(
            new SlowPolicy(creation),
            new() { Name = "burst", MaxSize = BurstCallers, MaxCreateConcurrency = creators, RentTimeout = TimeSpan.FromMinutes(1) });
        long start = Stopwatch.GetTimestamp();
        ResourceLease<Thing>[] leases =
            Task.WhenAll(Enumerable.Range(0, BurstCallers).Select(_ => pool.RentAsync().AsTask())).GetAwaiter().GetResult();
        double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        Array.ForEach(leases, static lease => lease.Dispose());
        Dispose(pool);
        return milliseconds;
    }

    /// <summary>More threads than resources rent synchronously; the thread pool has nothing to do with it.</summary>
    public static Dictionary<string, double> Injection()
    {
        const int Callers = 32;
        PoolSubject subject = PoolSubject.Open(4);
        int before = ThreadPool.ThreadCount;
        int most = before;
        Thread[] threads = [.. Enumerable.Range(0, Callers).Select(_ => new Thread(() =>
        {
            for (int i = 0; i < 2000; i++)
            {
                ResourceLease<Thing> lease = subject.Rent();
                subject.Use(lease);
                subject.Return(lease);
            }
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        foreach (Thread thread in threads)
        {
            while (!thread.Join(5))
            {
                most = Math.Max(most, ThreadPool.ThreadCount);
            }
        }

        return new() { [ThreadsAdded] = most - before, ["callers"] = Callers };
    }

    /// <summary>Requests to a server on loopback that closes all its connections while three are leased.</summary>
    public static Dictionary<string, double> Killed()
    {
        const int Leases = 3;
        using var server = new EchoServer();
        var pool = new ResourcePool<Socket>(new SocketPolicy(server.EndPoint), new ResourcePoolOptions { Name = "killed", MaxSize = 8 });
        pool.WarmUpAsync(8).GetAwaiter().GetResult();
        ResourceLease<Socket>[] out3 = [.. Enumerable.Range(0, Leases).Select(_ => pool.RentAsync().AsTask().GetAwaiter().GetResult())];
        server.Kill(8);
        int errors = 0;
        foreach (ResourceLease<Socket> lease in out3)
        {
            errors += Ask(lease) ? 0 : 1;
        }

        int after = 0;
        for (int i = 0; i < 100; i++)
        {
            after += Ask(pool.RentAsync().AsTask().GetAwaiter().GetResult()) ? 0 : 1;
        }

        Dispose(pool);
        return new()
        {
            [ErrorsBeyond] = Math.Max(0, errors + after - Leases),
            ["errors"] = errors + after,
            ["leases_out"] = Leases,
            ["requests"] = Leases + 100,
        };
    }

    /// <summary>Many keys that are used once each, and forgotten.</summary>
    public static Dictionary<string, double> ColdKeys(int keys)
    {
        var pool = new KeyedResourcePool<int, Thing>(
            static _ => KeyedSubject.Policy,
            new() { MaxTotal = 10, PerKey = new() { Name = "cold", MaxSize = 1, IdleTimeout = TimeSpan.FromMilliseconds(50) } });
        Use(pool, 0, 1000);
        Quiet(pool);
        long before = GC.GetTotalMemory(forceFullCollection: true);
        long start = Stopwatch.GetTimestamp();
        Use(pool, 1000, keys);
        double nanoseconds = Stopwatch.GetElapsedTime(start).TotalNanoseconds / keys;
        int left = Quiet(pool);
        double bytes = (double)(GC.GetTotalMemory(forceFullCollection: true) - before) / keys;
        GC.KeepAlive(pool);
        return new() { [BytesPerKey] = Math.Max(0, Math.Round(bytes)), ["keys_left"] = left, ["ns_per_key"] = nanoseconds };
    }

    private static void Use(KeyedResourcePool<int, Thing> pool, int first, int count)
    {
        for (int key = first; key < first + count; key++)
        {
            pool.RentAsync(key).AsTask().GetAwaiter().GetResult().Dispose();
        }
    }

    /// <summary>Waits until the last keys were idle for long enough.</summary>
    private static int Quiet(KeyedResourcePool<int, Thing> pool)
    {
        for (int i = 0; i < 100 && pool.Keys.Count > 0; i++)
        {
            Thread.Sleep(20);
        }

        return pool.Keys.Count;
    }

    /// <summary>One byte to the server and back; what fails is marked, as a client would.</summary>
    private static bool Ask(ResourceLease<Socket> lease)
    {
        try
        {
            Span<byte> one = [1];
            if (lease.Value.Send(one) == 1 && lease.Value.Receive(one) == 1)
            {
                return true;
            }

            lease.MarkBroken();
        }
        catch (SocketException e)
        {
            lease.MarkBroken(e);
        }
        finally
        {
            lease.Dispose();
        }

        return false;
    }

    private static void Dispose<T>(ResourcePool<T> pool)
        where T : class => pool.DisposeAsync().AsTask().GetAwaiter().GetResult();

    /// <summary>Makes each thing in so many milliseconds.</summary>
    private sealed class SlowPolicy(int milliseconds) : ResourcePolicy<Thing>
    {
        /// <inheritdoc/>
        public override async ValueTask<Thing> CreateAsync(CancellationToken cancellationToken)
        {
            await Task.Delay(milliseconds, cancellationToken).ConfigureAwait(false);
            return new Thing();
        }
    }

    /// <summary>Connects; a connection that has something to read between two requests was closed by the server.</summary>
    private sealed class SocketPolicy(EndPoint server) : ResourcePolicy<Socket>
    {
        /// <inheritdoc/>
        public override async ValueTask<Socket> CreateAsync(CancellationToken cancellationToken)
        {
            var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await socket.ConnectAsync(server, cancellationToken).ConfigureAwait(false);
            return socket;
        }

        /// <inheritdoc/>
        public override bool IsBroken(Socket resource) => resource.Poll(0, SelectMode.SelectRead);
    }
}
