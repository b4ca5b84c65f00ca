using Tidepool.Preloading;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>Recordings of native programs that were not run.</summary>
internal static class MadeUpNative
{
    /// <summary>The seconds of the window: young is freed within one, kept lives for five.</summary>
    public const double Seconds = 10;

    private const long Start = 1_000_000_000;

    /// <summary>The program: its addresses begin at 0x1000 of memory and at 0 of the file.</summary>
    public static LoggedModule Server { get; } = new("/opt/server", 0x1000, 0x1000, 0x9000);

    /// <summary>Classes of the native library as it is built.</summary>
    public static IReadOnlyList<int> Classes { get; } =
    [
        .. Enumerable.Range(1, 8).Select(static i => 16 * i),
        .. from octave in Enumerable.Range(7, 6) from step in Enumerable.Range(9, 8) select (1 << octave) * step / 8,
        .. from octave in Enumerable.Range(13, 2) from step in Enumerable.Range(5, 4) select (1 << octave) * step / 4,
    ];

    /// <summary>
    /// A recording. The frames of stack n are the addresses from 0x100 n on, one for each line that <see cref="Names"/> has of it.
    /// </summary>
    /// <param name="blocks">The blocks, by site.</param>
    public static NativeRecording Recording(params IEnumerable<LoggedBlock>[] blocks)
    {
        LoggedBlock[] all = [.. blocks.SelectMany(static site => site).OrderBy(static block => block.Time)];
        return new NativeRecording
        {
            Log = new SampleLog
            {
                Process = 77,
                Start = Start,
                MeanBytes = PreloadEnvironment.MeanBytes,
                Blocks = all,
                Stacks = all.Select(static block => block.Stack).Distinct().ToDictionary(static stack => stack, FramesOf),
                Modules = [Server],
                Classes = Classes,
            },
            End = Start + (long)(Seconds * 1e9),
            ExitCode = 0,
        };
    }

    /// <summary>Sampled blocks of one site, evenly over the window.</summary>
    /// <param name="stack">The number of the site's stack.</param>
    /// <param name="count">How many.</param>
    /// <param name="size">The size of each.</param>
    /// <param name="lives">How many seconds each lives; null: to the end.</param>
    /// <param name="crosses">Whether another thread frees them.</param>
    public static IEnumerable<LoggedBlock> Blocks(
        int stack, int count, Func<int, long> size, Func<int, double?> lives, bool crosses = false)
    {
        for (int i = 0; i < count; i++)
        {
            long time = Start + (long)(Seconds * 1e9 * i / count);
            long? free = lives(i) is { } seconds ? time + (long)(seconds * 1e9) : null;
            yield return new LoggedBlock
            {
                Stack = stack,
                Size = size(i),
                Time = time,
                Thread = 1,
                IsFollowed = true,
                FreeTime = free,
                FreeThread = free is null ? 0 : crosses ? 2 : 1,
            };
        }
    }

    /// <summary>Names by addr2line's answer: for each stack the frames of its only address, those that were inlined first.</summary>
    /// <param name="frames">The functions and their places, by stack.</param>
    public static AddressNames Names(params (int Stack, (string Function, string Place)[] Frames)[] frames) => AddressNames.Of(
        Server,
        new StringReader(string.Concat(frames.Select(static one =>
            $"0x{0x100 * one.Stack:x}\n" + string.Concat(one.Frames.Select(static frame => $"{frame.Function}\n{frame.Place}\n"))))));

    /// <summary>A site of each verdict, and size classes that do not fit: what a report on a native program may have.</summary>
    public static AdviceReport Report(double load = 1)
    {
        NativeRecording recording = Recording(
            Blocks(1, (int)(4000 * load), static _ => 8200, static _ => 0.001),
            Blocks(2, 1000, static _ => 20_000, static _ => null),
            Blocks(3, 1000, static i => 100 + i % 50 * 100, static _ => 2, crosses: true),
            Blocks(4, 500, static i => 64 << i % 6, static _ => 0.001),
            Blocks(5, 20, static _ => 500, static _ => 0.001));
        AddressNames names = Names(
            (1, [("demo::parse(char const*)", "/src/parse.cpp:12")]),
            (2, [("demo::Cache::put(int)", "/src/cache.cpp:40 (discriminator 2)")]),
            (3, [("demo::reply<int>()", "/src/reply.cpp:7")]),
            (4, [("std::vector<int>::push_back(int const&)", "vector.h:1"), ("demo::collect()", "/src/parse.cpp:30")]),
            (5, [("??", "??:0")]));
        return NativeReport.Of("server", recording, names, static _ => 1e-6, new AdviceLimits { Processor = 0.001 });
    }

    private static ulong[] FramesOf(int stack) => stack == 0 ? [] : [Server.Load + 0x100UL * (ulong)stack + 1];
}
