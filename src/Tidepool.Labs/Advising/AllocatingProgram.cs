using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>How fast the program allocates.</summary>
internal enum AllocatingPace
{
    /// <summary>A billion bytes a second: the managed program computes between its arrays, so that it can do no more.</summary>
    Working,

    /// <summary>A billion bytes a second: the native program sleeps when it is ahead.</summary>
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

    /// <summary>What the managed program computes between two arrays when it works, in steps; -1 before it knows.</summary>
    public int Steps { get; init; } = -1;
}

/// <summary>
/// A program that <c>advise</c> and <c>watch</c> look at: it allocates small arrays that die young, under a stack as deep as that of a
/// server, and reads each. A line of its input is a pace or a question; it answers each with its state, and ends when its input ends.
/// </summary>
/// <remarks>
/// It is busy all the time, so that what a look costs is seen in its rate: a program that slept would give up time that it does not need.
/// </remarks>
internal static class AllocatingProgram
{
    /// <summary>The only argument of such a process.</summary>
    public const string Argument = "--allocating";

    /// <summary>The line that only asks for the state.</summary>
    public const string Question = "state";

    /// <summary>Bytes a second when it works or is paced.</summary>
    public const double BytesPerSecond = 1e9;

    private const int Frames = 20;
    private const int Batch = 64;
    private const int ShortestArray = 512;
    private const int LengthRange = 1024; // a power of two
    private const int Passes = 5;
    private const int RestMilliseconds = 50;
    private const int TrialSteps = 1000;
    private const int Trials = 3;
    private const int Corrections = 3; // the first steps cost less than the later ones

    private static readonly TimeSpan Trial = TimeSpan.FromMilliseconds(100);

    private static readonly byte[][] Kept = new byte[Batch][];
    private static volatile AllocatingPace s_pace = AllocatingPace.Resting;
    private static volatile int s_steps = -1;
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
                Steps = s_steps,
            }));
            output.Flush();
        }

        return 0;
    }

    private static void Work()
    {
        while (true)
        {
            AllocatingPace pace = s_pace;
            if (pace == AllocatingPace.Resting)
            {
                Thread.Sleep(RestMilliseconds);
                continue;
            }

            if (pace == AllocatingPace.Working && s_steps < 0)
            {
                s_steps = FindSteps();
            }

            AllocateBelow(Frames, pace == AllocatingPace.Working ? s_steps : 0);
        }
    }

    /// <summary>The steps between two arrays with which it allocates as many bytes a second as it shall.</summary>
    private static int FindSteps()
    {
        double ofStep = (Fastest(TrialSteps) - Fastest(0)) / TrialSteps;
        int steps = 0;
        for (int i = 0; i < Corrections; i++)
        {
            steps = Math.Max(0, steps + (int)(((1e9 / BytesPerSecond) - Fastest(steps)) / ofStep));
        }

        return steps;

        static double Fastest(int steps) => Enumerable.Range(0, Trials).Min(_ => TimeOfByte(steps));
    }

    /// <summary>The time of a byte, in nanoseconds.</summary>
    private static double TimeOfByte(int steps)
    {
        long start = Stopwatch.GetTimestamp();
        long bytes = 0;
        while (Stopwatch.GetElapsedTime(start) < Trial)
        {
            bytes += AllocateBelow(Frames, steps);
        }

        return Stopwatch.GetElapsedTime(start).TotalNanoseconds / bytes;
    }

    /// <summary>The stack of a server: sampling pays for each frame.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
    private static long AllocateBelow(int frames, int steps) =>
        frames > 0 ? AllocateBelow(frames - 1, steps) : AllocateBatch(steps);

    /// <summary>Compiled once and for all: no later tier may fall into a window.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static long AllocateBatch(int steps)
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

            sum = Compute(sum, steps);
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

    /// <summary>A chain of steps, each of which waits for the one before.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static long Compute(long value, int steps)
    {
        for (int i = 0; i < steps; i++)
        {
            value = value * 6364136223846793005 + 1442695040888963407;
        }

        return value;
    }
}
