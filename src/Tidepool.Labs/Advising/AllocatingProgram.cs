using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>How fast the program allocates.</summary>
internal enum AllocatingPace
{
    /// <summary>A billion bytes a second, less than a core can do.</summary>
    Paced,

    /// <summary>As fast as it can.</summary>
    Saturated,

    /// <summary>Not at all, while another program is measured.</summary>
    Resting,
}

/// <summary>What the program knows of itself.</summary>
internal sealed record AllocatingState
{
    /// <summary>Bytes that it has allocated.</summary>
    public required long Allocated { get; init; }

    /// <summary>The processor time that it has used, in nanoseconds.</summary>
    public required double ProcessorNanoseconds { get; init; }

    /// <summary>A clock, in nanoseconds.</summary>
    public required double Nanoseconds { get; init; }

    /// <summary>Methods that were compiled; 0 of a native program.</summary>
    public long Compiled { get; init; }
}

/// <summary>
/// A program that <c>advise</c> and <c>watch</c> look at: it allocates small arrays that die young, under a stack as deep as that of a
/// server, and reads each. A line of its input is a pace or a question; it answers each with its state, and ends when its input ends.
/// </summary>
internal static class AllocatingProgram
{
    /// <summary>The only argument of such a process.</summary>
    public const string Argument = "--allocating";

    /// <summary>The line that only asks for the state.</summary>
    public const string Question = "state";

    /// <summary>Bytes a second when it is paced.</summary>
    public const double BytesPerSecond = 1e9;

    private const int Frames = 20;
    private const int Batch = 64;
    private const int ShortestArray = 512;
    private const int LengthRange = 1024; // a power of two
    private const int Passes = 5;
    private const int RestMilliseconds = 50;
    private const double MostBehindSeconds = 0.05;

    private static readonly byte[][] Kept = new byte[Batch][];
    private static volatile AllocatingPace s_pace = AllocatingPace.Paced;
    private static long s_sum;
    private static int s_turn;

    /// <summary>Runs until the input ends.</summary>
    public static int Run(TextReader input, TextWriter output)
    {
        new Thread(Work) { IsBackground = true, Name = "allocating" }.Start();
        while (input.ReadLine() is { } line)
        {
            if (Enum.TryParse(line, out AllocatingPace pace))
            {
                s_pace = pace;
            }

            output.WriteLine(MessageLine.Write(new AllocatingState
            {
                Allocated = GC.GetTotalAllocatedBytes(),
                ProcessorNanoseconds = Environment.CpuUsage.TotalTime.TotalNanoseconds,
                Nanoseconds = Stopwatch.GetElapsedTime(0).TotalNanoseconds,
                Compiled = System.Runtime.JitInfo.GetCompiledMethodCount(),
            }));
            output.Flush();
        }

        return 0;
    }

    private static void Work()
    {
        long start = Stopwatch.GetTimestamp();
        double done = 0;
        while (true)
        {
            if (s_pace == AllocatingPace.Resting)
            {
                Thread.Sleep(RestMilliseconds);
                continue;
            }

            double due = Stopwatch.GetElapsedTime(start).TotalSeconds * BytesPerSecond;
            if (s_pace == AllocatingPace.Paced && done >= due)
            {
                Thread.Sleep(1);
                continue;
            }

            if (s_pace == AllocatingPace.Saturated || due - done > MostBehindSeconds * BytesPerSecond)
            {
                done = due; // what it is behind is not made up for, or it would be saturated for a while
            }

            done += AllocateBelow(Frames);
        }
    }

    /// <summary>The stack of a server: sampling pays for each frame.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
    private static long AllocateBelow(int frames) => frames > 0 ? AllocateBelow(frames - 1) : AllocateBatch();

    /// <summary>Compiled once and for all: no later tier may fall into a window.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static long AllocateBatch()
    {
        long bytes = 0;
        long sum = 0;
        for (int i = 0; i < Kept.Length; i++)
        {
            byte[] array = new byte[ShortestArray + (s_turn++ * 37 & (LengthRange - 1))];
            Kept[i] = array;
            bytes += array.Length;
            for (int pass = 0; pass < Passes; pass++)
            {
                sum += Read(array);
            }
        }

        s_sum += sum;
        return bytes;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static long Read(byte[] array)
    {
        long sum = 0;
        for (int i = 0; i < array.Length; i += sizeof(long))
        {
            sum += array[i];
        }

        return sum;
    }
}
