using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Advice;

/// <summary>
/// Measures what a malloc and a free cost on this machine, so that a verdict can say what a pool could save at most. Each size is measured
/// once, in some 20 ms. For one thread at a time.
/// </summary>
/// <param name="stop">Ends the measurement of a size after its first round.</param>
internal sealed class AllocatorClock(CancellationToken stop)
{
    /// <summary>The largest size that is measured; from there on costs grow as sizes do, as pages are touched.</summary>
    public const long LargestSize = 1 << 20;

    private const int Rounds = 9;
    private const int MostPairs = 64;
    private const int PageBytes = 4096;
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(2);

    private readonly Dictionary<long, double> _seconds = [];

    /// <summary>Seconds for one malloc of the C library, a touch of each page, and a free; the call is counted in.</summary>
    /// <param name="size">The bytes of the block.</param>
    public double PairSeconds(long size)
    {
        long measured = Math.Clamp(size, 1, LargestSize);
        if (!_seconds.TryGetValue(measured, out double seconds))
        {
            seconds = Measure((nint)measured);
            _seconds.Add(measured, seconds);
        }

        return seconds * Math.Max(1, (double)size / measured);
    }

    private double Measure(nint bytes)
    {
        int batch = (int)Math.Clamp(MostPairs * PageBytes / bytes, 1, MostPairs); // so that a batch is far shorter than a round
        double best = double.PositiveInfinity;
        for (int i = 0; i < Rounds && (i == 0 || !stop.IsCancellationRequested); i++)
        {
            long start = Stopwatch.GetTimestamp();
            long pairs = 0;
            do
            {
                Run(bytes, batch);
                pairs += batch;
            }
            while (Stopwatch.GetElapsedTime(start) < Round);
            best = Math.Min(best, Stopwatch.GetElapsedTime(start).TotalSeconds / pairs);
        }

        return best;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static void Run(nint bytes, int pairs)
    {
        for (int i = 0; i < pairs; i++)
        {
            nint block = Marshal.AllocHGlobal(bytes); // malloc, where native programs are looked at
            for (nint at = 0; at < bytes; at += PageBytes)
            {
                Marshal.WriteByte(block + at, 1);
            }

            Marshal.FreeHGlobal(block);
        }
    }
}
