using System.Runtime.CompilerServices;

namespace Tidepool.Tests.Support;

/// <summary>A program that lets its pools give up much memory and then does nothing, with the trimmer's own clock.</summary>
internal static class IdleProcess
{
    private const int BufferBytes = 1 << 20;

    /// <summary>The clock's turns and the quiet seconds take 40 s; a process that seems busy for a moment starts over.</summary>
    private const int LongestWait = 105_000;

    /// <summary>Waits until the clock has stopped or the process has collected, and prints what was collected.</summary>
    public static void Run()
    {
        Trimmer.IsAutomatic = true;
        WeakReference[] buffers = RentAndReturn();
        for (int i = 0; i < 2; i++)
        {
            GC.Collect(); // so that the collections that renting causes are over
            GC.WaitForPendingFinalizers();
        }

        long idle = BufferPool<byte>.Shared.GetStatistics().BytesIdle;
        (long background, long blocking) before = Collections();
        for (int i = 0; i < 3; i++)
        {
            Trimmer.Epoch(all: false); // as time would do; this gives up a part
        }

        BufferPool<byte>.Shared.Trim(); // gives up the rest
        long deadline = Environment.TickCount64 + LongestWait;
        while (Collections() == before && Trimmer.IsRunning && Environment.TickCount64 < deadline)
        {
            Thread.Sleep(100);
        }

        (long background, long blocking) after = Collections();
        while (after != before && AreAlive(buffers) && Environment.TickCount64 < deadline)
        {
            Thread.Sleep(100); // a collection in the background is counted before it has ended
            after = Collections();
        }

        Console.WriteLine($"given up: {idle >= IdleCollection.LeastBytes}");
        Console.WriteLine($"in the background: {after.background != before.background}");
        Console.WriteLine($"blocking: {after.blocking != before.blocking}");
        Console.WriteLine($"buffers alive: {AreAlive(buffers)}");
    }

    private static bool AreAlive(WeakReference[] buffers) => buffers.Count(static buffer => buffer.IsAlive) > buffers.Length / 2;

    /// <summary>The numbers of the last full collections of both kinds, which change when another one is over.</summary>
    private static (long Background, long Blocking) Collections() =>
        (GC.GetGCMemoryInfo(GCKind.Background).Index, GC.GetGCMemoryInfo(GCKind.FullBlocking).Index);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] RentAndReturn()
    {
        int count = (int)(2 * IdleCollection.LeastBytes / BufferBytes);
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, count).Select(static _ => BufferPool<byte>.Shared.Rent(BufferBytes))];
        WeakReference[] buffers = [.. leases.Select(static lease => new WeakReference(lease.Segment.Array))];
        Array.ForEach(leases, static lease => lease.Return());
        return buffers;
    }
}
