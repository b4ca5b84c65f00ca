using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading.Channels;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>Allocates at places whose right verdict is known: each method is one site, and its name is what the advice must name.</summary>
internal static class PlantedProgram
{
    /// <summary>Sites whose objects die at once.</summary>
    public const string Young = "planted-young";

    /// <summary>Sites whose objects are kept: none of them may be advised.</summary>
    public const string Kept = "planted-kept";

    private const int BytesPerTick = 40_000;
    private const int TickMilliseconds = 5;
    private const int MostMail = 10_000;
    private const double BusyMilliseconds = 1;

    private static readonly ArrayPool<byte> Small = ArrayPool<byte>.Create(maxArrayLength: 1024, maxArraysPerBucket: 1);
    private static readonly Queue<byte[]> Line = [];
    private static readonly byte[][] Cache = new byte[4096][];
    private static readonly Channel<Message> Mail = Channel.CreateUnbounded<Message>();
    private static readonly SortedDictionary<long, Message> Unanswered = [];
    private static readonly Dictionary<string, long> Bytes = [];
    private static int s_turn;
    private static long s_sent;
    private static bool s_bursts;

    /// <summary>The sites that a pool pays for.</summary>
    public static IReadOnlyList<string> ToPool { get; } =
    [
        nameof(Bytes4000), nameof(Bytes16000), nameof(Chars3000), nameof(Ints2000), nameof(Doubles1500), nameof(LargeBytes),
        nameof(LargeLongs), nameof(MixedBytes), nameof(Floats4096), nameof(Stream20000), nameof(Builder8000), nameof(References1000),
    ];

    /// <summary>The traps among those that die young.</summary>
    public static IReadOnlyList<string> Traps { get; } =
    [
        nameof(TinyBytes), nameof(TinyChars), nameof(Texts), nameof(SmallObjects), nameof(References20), nameof(Closures), nameof(Lists),
        nameof(PoolMisses), nameof(Strings64),
    ];

    /// <summary>The trap of a program that warms up: its objects die young, but there are none in the steady state.</summary>
    public const string BurstTrap = nameof(Burst);

    /// <summary>The traps among those that are kept.</summary>
    public static IReadOnlyList<string> KeptTraps { get; } = [nameof(KeptInLine), nameof(KeptInCache), nameof(HandedOver)];

    /// <summary>The sites of which each call makes objects of one type in one way, so that the advice has one rate for them.</summary>
    public static IReadOnlyList<string> Measured { get; } =
    [
        nameof(Bytes4000), nameof(Bytes16000), nameof(Chars3000), nameof(Ints2000), nameof(Doubles1500), nameof(LargeBytes),
        nameof(LargeLongs), nameof(MixedBytes), nameof(Floats4096), nameof(References1000), nameof(TinyBytes), nameof(TinyChars),
        nameof(Texts), nameof(SmallObjects), nameof(References20), nameof(PoolMisses), nameof(Strings64),
    ];

    /// <summary>The line from which on it allocates at <see cref="Burst"/> too, until the next line.</summary>
    public const string StartBurst = "burst";

    /// <summary>The name of the count of collections among what it prints.</summary>
    public const string Collections = "collections";

    /// <summary>
    /// Allocates until the standard input ends. For each line of it, it prints its collections and the bytes of every site so far.
    /// </summary>
    public static async Task RunAsync(string name)
    {
        using var stop = new CancellationTokenSource();
        Task work = Task.Factory.StartNew(() => Work(name == Young ? TickYoung : TickKept, stop.Token), TaskCreationOptions.LongRunning);
        Task mail = ReceiveAsync();
        Console.WriteLine(WatchedProgram.Ready);
        while (await Console.In.ReadLineAsync() is { } line)
        {
            lock (Bytes)
            {
                s_bursts = line == StartBurst;
                string bytes = string.Join(' ', Bytes.Select(static site => $"{site.Key}={site.Value}"));
                Console.WriteLine($"{Stopwatch.GetTimestamp()} {Collections}={GC.CollectionCount(0)} {bytes}");
            }
        }

        await stop.CancelAsync();
        await work;
        Mail.Writer.Complete();
        await mail;
    }

    /// <summary>Ticks come by the clock: one that is late is made up for, so that the rate is the same on a machine that is busy.</summary>
    private static void Work(Action tick, CancellationToken stop)
    {
        var time = Stopwatch.StartNew();
        for (long ticks = 0; !stop.IsCancellationRequested; ticks++)
        {
            while (ticks * TickMilliseconds > time.ElapsedMilliseconds && !stop.WaitHandle.WaitOne(1))
            {
                // Not yet.
            }

            lock (Bytes)
            {
                tick();
            }

            // It also works: samples may cost a share of its processor time.
            long start = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(start).TotalMilliseconds < BusyMilliseconds)
            {
                Thread.SpinWait(1);
            }
        }
    }

    private static void TickYoung()
    {
        s_turn++;
        Repeat(nameof(Bytes4000), 10, static () => GC.KeepAlive(Bytes4000()));
        Repeat(nameof(Bytes16000), 3, static () => GC.KeepAlive(Bytes16000()));
        Repeat(nameof(Chars3000), 7, static () => GC.KeepAlive(Chars3000()));
        Repeat(nameof(Ints2000), 5, static () => GC.KeepAlive(Ints2000()));
        Repeat(nameof(Doubles1500), 4, static () => GC.KeepAlive(Doubles1500()));
        Repeat(nameof(LargeBytes), 1, static () => GC.KeepAlive(LargeBytes()));
        Repeat(nameof(LargeLongs), 1, static () => GC.KeepAlive(LargeLongs()));
        Repeat(nameof(MixedBytes), 7, static () => GC.KeepAlive(MixedBytes(2000 + s_turn * 977 % 8000)));
        Repeat(nameof(Floats4096), 3, static () => GC.KeepAlive(Floats4096()));
        Repeat(nameof(Stream20000), 1, static () => GC.KeepAlive(Stream20000()));
        Repeat(nameof(Builder8000), 3, static () => GC.KeepAlive(Builder8000()));
        Repeat(nameof(References1000), 5, static () => GC.KeepAlive(References1000()));
        Repeat(nameof(TinyBytes), BytesPerTick / 128, static () => GC.KeepAlive(TinyBytes()));
        Repeat(nameof(TinyChars), BytesPerTick / 152, static () => GC.KeepAlive(TinyChars()));
        Repeat(nameof(Texts), BytesPerTick / 222, static () => GC.KeepAlive(Texts()));
        Repeat(nameof(SmallObjects), BytesPerTick / 48, static () => GC.KeepAlive(SmallObjects()));
        Repeat(nameof(References20), BytesPerTick / 184, static () => GC.KeepAlive(References20()));
        Repeat(nameof(Closures), BytesPerTick / 48, static () => GC.KeepAlive(Closures(s_turn)));
        Repeat(nameof(Lists), 8, static () => GC.KeepAlive(Lists()));
        Repeat(nameof(PoolMisses), 5, static () => GC.KeepAlive(PoolMisses()));
        Repeat(nameof(Strings64), BytesPerTick / 536, static () => GC.KeepAlive(Strings64()));
        if (s_bursts)
        {
            Repeat(nameof(Burst), 200, static () => GC.KeepAlive(Burst()));
        }
    }

    private static void TickKept()
    {
        Repeat(nameof(KeptInLine), 20, static () => KeptInLine());
        Repeat(nameof(KeptInCache), 10, static () => KeptInCache(s_turn = (s_turn * 1_103_515_245 + 12_345) & int.MaxValue));
        Repeat(nameof(HandedOver), 30, static () => HandedOver());
    }

    private static void Repeat(string site, int times, Action allocate)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < times; i++)
        {
            allocate();
        }

        Bytes[site] = Bytes.GetValueOrDefault(site) + GC.GetAllocatedBytesForCurrentThread() - before;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Bytes4000() => new byte[4000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Bytes16000() => new byte[16_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static char[] Chars3000() => new char[3000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int[] Ints2000() => new int[2000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static double[] Doubles1500() => new double[1500];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] LargeBytes() => new byte[120_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long[] LargeLongs() => new long[20_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] MixedBytes(int length) => new byte[length];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static float[] Floats4096() => new float[4096];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Stream20000()
    {
        using var stream = new MemoryStream();
        ReadOnlySpan<byte> part = stackalloc byte[2000];
        for (int i = 0; i < 10; i++)
        {
            stream.Write(part);
        }

        return stream.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Builder8000()
    {
        var builder = new StringBuilder();
        for (int i = 0; i < 8; i++)
        {
            builder.Append('x', 1000);
        }

        return builder.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static object[] References1000() => new object[1000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] TinyBytes() => new byte[100];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static char[] TinyChars() => new char[64];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static string Texts() => new('x', 100);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Message SmallObjects() => new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static object[] References20() => new object[20];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Func<int> Closures(int turn) => () => turn;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static List<int> Lists()
    {
        List<int> list = [];
        for (int i = 0; i < 500; i++)
        {
            list.Add(i);
        }

        return list;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] PoolMisses() => Small.Rent(8000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static string[] Strings64() => new string[64];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] Burst() => new byte[5000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void KeptInLine()
    {
        Line.Enqueue(new byte[4000]);
        if (Line.Count > 10_000)
        {
            Line.Dequeue();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void KeptInCache(int place) => Cache[place % Cache.Length] = new byte[8000];

    /// <summary>Gives it to another thread, which keeps it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void HandedOver() => Mail.Writer.TryWrite(new Message { Content = new byte[3000], Sequence = s_sent++ });

    private static async Task ReceiveAsync()
    {
        await foreach (Message message in Mail.Reader.ReadAllAsync())
        {
            Unanswered.Add(message.Sequence, message);
            Unanswered.Remove(message.Sequence - MostMail);
        }
    }

    private sealed class Message
    {
        public byte[]? Content { get; init; }

        public long Sequence { get; init; }

        public Guid Id { get; init; }
    }
}
