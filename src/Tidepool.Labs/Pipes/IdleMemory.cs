using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>What a pool still holds some time after 1 GiB was rented and returned, while every renter's thread is parked.</summary>
internal static class IdleMemory
{
    /// <summary>Metric: idle bytes by the pool's statistics, in percent of what was rented.</summary>
    public const string HeldPercent = "held_percent";

    /// <summary>Metric: bytes of arrays that survived one collection, in percent of what was rented.</summary>
    public const string AlivePercent = "alive_percent";

    /// <summary>Metric: the resident size of the process at the end, in MiB.</summary>
    public const string Resident = "rss_MiB";

    private const long TotalBytes = 1L << 30;
    private const int Threads = 4;
    private const long StreamBytes = 400L << 20;

    /// <summary>Seven epochs until all is given up, thirty quiet seconds, and as much again for a slow machine.</summary>
    private static readonly TimeSpan IdleWait = TimeSpan.FromSeconds(200);
    private static readonly TimeSpan Wait = TimeSpan.FromSeconds(60);
    private static readonly int[] Lengths = [4 << 10, 64 << 10, 1 << 20];

    /// <summary>Waits a minute without any call to the pool, then measures.</summary>
    public static Dictionary<string, double> WaitAndMeasure(ProbeSite site)
    {
        using var renters = Renters.Start();
        double peak = ResidentMiB();
        site.Quiet();
        Thread.Sleep(Wait);
        return Measure(renters, peak);
    }

    /// <summary>Trims, then measures at once.</summary>
    public static Dictionary<string, double> TrimAndMeasure()
    {
        using var renters = Renters.Start();
        double peak = ResidentMiB();
        BufferPool<byte>.Shared.Trim();
        return Measure(renters, peak);
    }

    /// <summary>Fills streams with 400 MiB, then does nothing for as long as an idle process may take to collect.</summary>
    /// <param name="site">The probe's process, which has rented nothing before.</param>
    /// <param name="mode">A value of <c>Tidepool.CollectWhenIdle</c>.</param>
    public static Dictionary<string, double> LeaveIdle(ProbeSite site, string mode)
    {
        AppContext.SetData("Tidepool.CollectWhenIdle", mode);
        FillStreams();
        double peak = ResidentMiB();
        (int collections, TimeSpan pause) = (GC.CollectionCount(2), GC.GetTotalPauseDuration());
        site.Quiet();
        site.Stop.WaitHandle.WaitOne(IdleWait);
        return new()
        {
            ["rss_peak_MiB"] = peak,
            [Resident] = ResidentMiB(),
            ["full_collections_count"] = GC.CollectionCount(2) - collections,
            ["pause_ns"] = (GC.GetTotalPauseDuration() - pause).TotalNanoseconds,
        };
    }

    private static void FillStreams()
    {
        byte[] part = new byte[64 << 10];
        using var stream = PooledMemoryStream.Rent();
        for (long written = 0; written < StreamBytes; written += part.Length)
        {
            stream.Write(part);
        }
    }

    private static Dictionary<string, double> Measure(Renters renters, double peak)
    {
        double held = BufferPool<byte>.Shared.GetStatistics().BytesIdle;
        GC.Collect();
        double alive = renters.AliveBytes();
        return new()
        {
            [HeldPercent] = 100 * held / TotalBytes,
            [AlivePercent] = 100 * alive / TotalBytes,
            ["rss_peak_MiB"] = peak,
            [Resident] = ResidentMiB(),
        };
    }

    private static double ResidentMiB() => Math.Round(Environment.WorkingSet / (double)(1 << 20));

    /// <summary>Threads that rented and returned their share and are parked until disposal.</summary>
    private sealed class Renters : IDisposable
    {
        private readonly ManualResetEventSlim _end = new();
        private readonly List<(WeakReference Array, int Bytes)>[] _seen;
        private readonly Thread[] _threads;

        private Renters()
        {
            _seen = [.. Enumerable.Range(0, Threads).Select(_ => new List<(WeakReference, int)>())];
            using var returned = new CountdownEvent(Threads);
            _threads = [.. _seen.Select(seen => new Thread(() =>
            {
                RentAndReturn(seen);
                returned.Signal();
                _end.Wait();
            }))];
            Array.ForEach(_threads, thread => thread.Start());
            returned.Wait();
        }

        public static Renters Start() => new();

        public double AliveBytes() => _seen.SelectMany(seen => seen).Where(item => item.Array.IsAlive).Sum(item => (double)item.Bytes);

        public void Dispose()
        {
            _end.Set();
            Array.ForEach(_threads, thread => thread.Join());
            _end.Dispose();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RentAndReturn(List<(WeakReference Array, int Bytes)> seen)
        {
            var leases = new List<BufferLease<byte>>();
            foreach (int length in Lengths)
            {
                long count = TotalBytes / Threads / Lengths.Length / length;
                for (long i = 0; i < count; i++)
                {
                    var lease = BufferPool<byte>.Shared.Rent(length);
                    lease.Span.Fill(1);
                    seen.Add((new WeakReference(lease.Segment.Array), length));
                    leases.Add(lease);
                }
            }

            leases.ForEach(lease => lease.Return());
        }
    }
}
