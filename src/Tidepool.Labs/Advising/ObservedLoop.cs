using System.Globalization;

namespace Tidepool.Labs;

/// <summary>What looks at the program.</summary>
internal enum Observer
{
    /// <summary><c>tidepool advise</c>.</summary>
    Advise,

    /// <summary><c>tidepool watch</c>, without the events of ArrayPool.</summary>
    Watch,
}

/// <summary>The program of this measuring process: one for all loops, so that both sides of a pair have the same compiled code.</summary>
internal static class ObservedProgram
{
    /// <summary>How long each looks: the shortest window of <c>advise</c>, and a short while for <c>watch</c>, which stays open.</summary>
    public static int SecondsOf(Observer observer) => observer == Observer.Advise ? 5 : 10;

    private const int StillSeconds = 3;
    private const int MostSecondsToFindSteps = 30;

    private static readonly Lazy<PinnedProcess> Program = new(Start);

    /// <summary>The number of its process.</summary>
    public static int Id => Program.Value.Id;

    /// <summary>The core of what looks at it.</summary>
    public static int OtherCore => CorePair.OfThisMachine()!.Value.Client;

    /// <summary>Its state now.</summary>
    public static AllocatingState Ask() => Program.Value.Ask<AllocatingState>(AllocatingProgram.Question);

    /// <summary>Sets its pace.</summary>
    public static void Set(AllocatingPace pace) => Program.Value.Ask<AllocatingState>(pace.ToString());

    /// <summary>Lets it rest until its pace is set again; where it was never started, it is not started either.</summary>
    public static void Rest()
    {
        if (Program.IsValueCreated)
        {
            Set(AllocatingPace.Resting);
        }
    }

    /// <summary>Looks at it once, from the other core.</summary>
    public static ToolRun Observe(Observer observer, int seconds, params IEnumerable<string> more) => ToolRun.Of(
        ChildCommand.OfThisProgram(),
        OtherCore,
        [
            observer == Observer.Advise ? "advise" : "watch", Text(Id), "--seconds", Text(seconds),
            .. observer == Observer.Watch ? ["--json"] : more,
        ]);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>Starts it, waits until its compiler has nothing more to do, and lets it find its steps.</summary>
    private static PinnedProcess Start()
    {
        PinnedProcess process = PinnedProcess.Start(
            "The allocating program", ChildCommand.OfThisProgram(), CorePair.OfThisMachine()!.Value.Server, AllocatingProgram.Argument);
        long compiled = -1;
        for (int still = 0; still < StillSeconds; still++)
        {
            long now = process.Ask<AllocatingState>(nameof(AllocatingPace.Saturated)).Compiled;
            still = now == compiled ? still : 0;
            compiled = now;
            Thread.Sleep(TimeSpan.FromSeconds(1));
        }

        for (int i = 0; process.Ask<AllocatingState>(nameof(AllocatingPace.Working)).Steps < 0; i++)
        {
            if (i == MostSecondsToFindSteps)
            {
                throw new LabProcessException("The allocating program did not find its pace in time.");
            }

            Thread.Sleep(TimeSpan.FromSeconds(1));
        }

        return process;
    }
}

/// <summary>A window of the program's life, alone or looked at; an operation is a million bytes that it allocates.</summary>
/// <param name="pace">How fast it allocates.</param>
/// <param name="observer">What looks at it; null for nothing.</param>
/// <param name="seconds">How long the window is, without the start and the end of what looks.</param>
internal sealed class ObservedLoop(AllocatingPace pace, Observer? observer, int seconds) : Loop
{
    private const double Megabyte = 1e6;
    private const double LeastOfPace = 0.95;
    private const double MostOffPace = 0.1;
    private const int MostAgain = 2;

    private static readonly TimeSpan Settle = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan ToolStart = TimeSpan.FromSeconds(1);

    private static readonly Lazy<ToolRun> FirstLook =
        new(static () => ObservedProgram.Observe(Observer.Watch, ObservedProgram.SecondsOf(Observer.Watch)));

    /// <summary>Lets the program be looked at: what it compiles then it compiles once in its life, so it belongs to no window.</summary>
    public override void Run(int operations) => _ = FirstLook.Value;

    /// <summary>Measures a window; one in which the machine did not let the program keep its pace again, twice at most.</summary>
    /// <exception cref="LabProcessException">The program did not keep its pace.</exception>
    public override Sample Measure(int operations)
    {
        // A program that is looked at may be slower than its pace allows: that is what is measured.
        AllocatingPace expected = observer is null ? pace : AllocatingPace.Saturated;
        var (before, after) = Window();
        for (int again = 0; again < MostAgain && !KeepsPace(expected, before, after); again++)
        {
            (before, after) = Window();
        }

        return Sample.OfTime(TimeOfMegabyte(expected, before, after));
    }

    private (AllocatingState Before, AllocatingState After) Window()
    {
        ObservedProgram.Set(pace);
        Thread.Sleep(Settle);
        AllocatingState before = ObservedProgram.Ask();
        if (observer is { } looking)
        {
            ObservedProgram.Observe(looking, seconds);
        }
        else
        {
            Thread.Sleep(TimeSpan.FromSeconds(seconds) + ToolStart);
        }

        return (before, ObservedProgram.Ask());
    }

    private static double RateOf(AllocatingState before, AllocatingState after) =>
        (after.Allocated - before.Allocated) / (after.Nanoseconds - before.Nanoseconds) * 1e9;

    private static bool KeepsPace(AllocatingPace pace, AllocatingState before, AllocatingState after)
    {
        double ofPace = RateOf(before, after) / AllocatingProgram.BytesPerSecond;
        return pace switch
        {
            AllocatingPace.Saturated => true,
            AllocatingPace.Working => Math.Abs(ofPace - 1) <= MostOffPace,
            _ => ofPace >= LeastOfPace,
        };
    }

    /// <summary>The time of a million bytes; of a program that sleeps when it is ahead, its processor time.</summary>
    /// <exception cref="LabProcessException">The program did not keep its pace.</exception>
    internal static double TimeOfMegabyte(AllocatingPace pace, AllocatingState before, AllocatingState after)
    {
        double megabytes = (after.Allocated - before.Allocated) / Megabyte;
        double time = pace == AllocatingPace.Paced
            ? after.ProcessorNanoseconds - before.ProcessorNanoseconds
            : after.Nanoseconds - before.Nanoseconds;
        return KeepsPace(pace, before, after)
            ? time / megabytes
            : throw new LabProcessException(
                $"The program allocated {Text(RateOf(before, after))} GB/s and was to allocate {Text(AllocatingProgram.BytesPerSecond)}: "
                    + "the machine is busy, or too slow for it.");

        static string Text(double rate) => (rate / 1e9).ToString("0.00", CultureInfo.InvariantCulture);
    }
}
