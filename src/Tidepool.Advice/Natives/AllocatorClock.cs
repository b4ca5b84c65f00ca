using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Advice;

/// <summary>Measures what a malloc and a free cost on this machine, so that a verdict can say what a pool could save at most.</summary>
internal static class AllocatorClock
{
    private const int Rounds = 9;
    private const int Batch = 64;
    private const int PageBytes = 4096;
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(2);

    /// <summary>Seconds for one malloc of the C library, a touch of each page, and a free; the call is counted in.</summary>
    /// <param name="size">The bytes of the block.</param>
    public static double PairSeconds(long size)
    {
        nint bytes = (nint)Math.Clamp(size, 1, 1 << 30);
        double best = double.PositiveInfinity;
        for (int i = 0; i < Rounds; i++)
        {
            long start = Stopwatch.GetTimestamp();
            long pairs = 0;
            do
            {
                Run(bytes);
                pairs += Batch;
            }
            while (Stopwatch.GetElapsedTime(start) < Round);
            best = Math.Min(best, Stopwatch.GetElapsedTime(start).TotalSeconds / pairs);
        }

        return best;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static void Run(nint bytes)
    {
        for (int i = 0; i < Batch; i++)
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
