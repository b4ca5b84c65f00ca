using System.Diagnostics;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>Allocates objects whose lifetimes it plans, collects, and sees by weak references what became of them.</summary>
internal static class LivedProgram
{
    public const string Name = "lived";

    private const int RoundMilliseconds = 20;
    private const int RoundsPerFull = 10;
    private const int PerRound = 50;
    private const int LargePerRound = 2;
    private const int KeptRounds = 100;

    private static readonly Dictionary<string, Counts> Seen = [];
    private static readonly Queue<object[]> Held = [];
    private static readonly List<(string Site, GCHandle Handle)> Weak = [];
    private static readonly List<(string Site, GCHandle Handle)> WeakLarge = [];

    /// <summary>Works until the standard input ends. For each line of it, it prints what weak references have told of every site.</summary>
    public static async Task RunAsync()
    {
        GCSettings.LatencyMode = GCLatencyMode.Batch; // no collection in the background: each looks at what it counts
        using var stop = new CancellationTokenSource();
        Task work = Task.Factory.StartNew(() => Work(stop.Token), TaskCreationOptions.LongRunning);
        Console.WriteLine(WatchedProgram.Ready);
        while (await Console.In.ReadLineAsync() is not null)
        {
            lock (Seen)
            {
                Console.WriteLine(string.Join(
                    ' ', Seen.Select(static site => $"{site.Key}={site.Value.Young},{site.Value.Later},{site.Value.Kept}")));
            }
        }

        await stop.CancelAsync();
        await work;
    }

    /// <summary>What it says, by site: how many died young, died later, and were kept.</summary>
    public static Dictionary<string, (double Young, double Later, double Kept)> Parse(string said) => said.Split(' ').ToDictionary(
        static word => word.Split('=')[0],
        static word => word.Split('=')[1].Split(',').Select(static n => double.Parse(n)).ToArray() is [var young, var later, var kept]
            ? (young, later, kept)
            : default);

    private static void Work(CancellationToken stop)
    {
        var time = Stopwatch.StartNew();
        for (int round = 0; !stop.IsCancellationRequested; round++)
        {
            lock (Seen)
            {
                object?[] once = Allocate(round);
                GC.Collect(0);
                Look(Weak, static alive => alive is null ? Fate.DiedYoung : null);
                Array.Clear(once);
                GC.Collect(1);
                Look(Weak, static alive => alive is null ? Fate.DiedLater : GC.GetGeneration(alive) == GC.MaxGeneration ? Fate.Kept : null);
                if (round % RoundsPerFull == 0)
                {
                    GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true);
                    Look(WeakLarge, static alive => alive is null ? Fate.DiedYoung : Fate.Kept);
                }
            }

            while (time.ElapsedMilliseconds < round * (long)RoundMilliseconds && !stop.WaitHandle.WaitOne(1))
            {
                // Not yet.
            }
        }
    }

    /// <returns>What lives through one collection.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static object?[] Allocate(int round)
    {
        object?[] once = new object?[PerRound];
        object[] kept = new object[2 * PerRound + LargePerRound];
        for (int i = 0; i < PerRound; i++)
        {
            Follow(nameof(Young), Young());
            once[i] = Follow(nameof(ThroughOne), ThroughOne());
            kept[i] = Follow(nameof(Kept), Kept());
            object half = Follow(nameof(Half), Half());
            kept[PerRound + i] = (i + round) % 2 == 0 ? half : kept[i];
        }

        for (int i = 0; i < LargePerRound; i++)
        {
            Follow(nameof(Large), Large(), WeakLarge);
            kept[2 * PerRound + i] = Follow(nameof(LargeKept), LargeKept(), WeakLarge);
        }

        Held.Enqueue(kept);
        if (Held.Count > KeptRounds)
        {
            Held.Dequeue();
        }

        return once;
    }

    private static object Follow(string site, object made, List<(string Site, GCHandle Handle)>? weak = null)
    {
        (weak ?? Weak).Add((site, GCHandle.Alloc(made, GCHandleType.Weak)));
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Look(List<(string Site, GCHandle Handle)> weak, Func<object?, Fate?> judge) => weak.RemoveAll(one =>
    {
        if (judge(one.Handle.Target) is not { } fate)
        {
            return false;
        }

        Counts counts = Seen.GetValueOrDefault(one.Site);
        Seen[one.Site] = fate switch
        {
            Fate.DiedYoung => counts with { Young = counts.Young + 1 },
            Fate.DiedLater => counts with { Later = counts.Later + 1 },
            _ => counts with { Kept = counts.Kept + 1 },
        };
        one.Handle.Free();
        return true;
    });

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Young() => new byte[4000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] ThroughOne() => new byte[4000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Kept() => new byte[4000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Half() => new byte[4000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Large() => new byte[120_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] LargeKept() => new byte[120_000];

    private readonly record struct Counts(long Young, long Later, long Kept);
}
