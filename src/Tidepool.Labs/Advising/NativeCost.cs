namespace Tidepool.Labs;

/// <summary>The part of lab <c>advise</c> about native programs: what they pay under the preload library, and for its log.</summary>
internal static class NativeCost
{
    /// <summary>The baseline.</summary>
    public const string Alone = "a native program, on glibc";

    /// <summary>What is compared with it.</summary>
    public const string Preloaded = "the same program, preloaded";

    /// <summary>Adds workloads.</summary>
    /// <param name="plan">The plan of lab <c>advise</c>.</param>
    /// <param name="rate">How the pace is called.</param>
    /// <param name="order">The place of the first of two sections.</param>
    public static void Describe(LabPlan plan, string rate, int order)
    {
        plan.Rivals["C library"] = SystemLibraries.CLibrary;
        if (CorePair.Missing is null && NativeAllocatingProgram.Missing is { } missing)
        {
            plan.Hints.Add($"Lab advise, native programs: {missing}");
        }

        foreach (AllocatingPace pace in (AllocatingPace[])[AllocatingPace.Paced, AllocatingPace.Saturated])
        {
            bool isPaced = pace == AllocatingPace.Paced;
            Section section = SectionOf(isPaced, order + (isPaced ? 0 : 1));
            AddPair(plan, section, pace, CellOf("without a log"), NativeMalloc.Preloaded);
            AddPair(plan, section, pace, CellOf("with the log of advise"), NativeMalloc.Logged);
            Cell CellOf(string library) => Cell.Of(("pace", isPaced ? rate : "saturated"), ("library", library));
        }
    }

    private static Section SectionOf(bool isPaced, int order) => new()
    {
        Title = isPaced ? "What it costs a native program" : "What it costs a native program that allocates as fast as it can",
        About = "A native program on one core allocates blocks that die young, under a stack of 20 frames, writes and reads them. advise "
            + "starts such a program under the preload library, which logs samples: both are measured beside glibc's malloc, each window "
            + $"of {NativeWindow.Seconds} s in a new process. "
            + (isPaced ? "Time is processor time of the program for a million bytes." : "Time is that of a million bytes."),
        Baseline = Alone,
        Varies = ["library"],
        Operation = "million bytes",
        Order = order,
    };

    private static void AddPair(LabPlan plan, Section section, AllocatingPace pace, Cell cell, NativeMalloc malloc)
    {
        foreach (NativeMalloc one in (NativeMalloc[])[NativeMalloc.CLibrary, malloc])
        {
            bool isOurs = one != NativeMalloc.CLibrary;
            plan.Add(new Workload
            {
                Key = new(cell, isOurs ? Preloaded : Alone),
                Section = section,
                Ours = isOurs,
                Create = () => NativeAllocatingProgram.Missing is null ? new NativeWindow(pace, one) : null,
                Missing = NativeAllocatingProgram.Missing ?? "not available here",
                FixedOperations = (int)(NativeWindow.Seconds * AllocatingProgram.BytesPerSecond / 1e6),
                EveryRounds = pace == AllocatingPace.Paced ? 1 : 3, // an odd number, so that both orders take turns
            });
        }
    }
}
