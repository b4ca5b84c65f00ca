namespace Tidepool.Advice;

/// <summary>Turns a recording into slices of samples, each with the frame that its author would change. Pure but for the names.</summary>
internal static class NativeSites
{
    /// <summary>The longest that a block may live to count as one that dies young, in seconds.</summary>
    public const double LongestYoung = 1;

    private const int MostFrames = 12;
    private const double YoungShare = 0.1;
    private const double KeptShare = 0.5;

    /// <summary>How long a block lives at most that dies young: a second, or a tenth of a shorter window.</summary>
    public static double YoungSeconds(double window) => Math.Min(LongestYoung, window * YoungShare);

    /// <summary>From which age on a block counts as kept: half of the window.</summary>
    public static double KeptSeconds(double window) => window * KeptShare;

    /// <summary>The return addresses whose names decide about the sites.</summary>
    public static IEnumerable<ulong> AddressesOf(SampleLog log) =>
        log.Blocks.Select(static block => block.Stack).Distinct().SelectMany(stack => FramesOf(log, stack));

    /// <summary>The samples in as many equal slices of the window as a program of .NET is looked at in.</summary>
    public static IReadOnlyList<SampleSlice> SlicesOf(NativeRecording recording, AddressNames names)
    {
        SampleLog log = recording.Log;
        double window = recording.Seconds;
        Dictionary<int, (StackPlace Place, string Type)> sites = log.Blocks.Select(static block => block.Stack).Distinct()
            .ToDictionary(static stack => stack, stack => SiteOf(StackOf(log, stack, names)));
        var samples = new List<AllocationSample>[SamplingPlan.Slices];
        for (int i = 0; i < samples.Length; i++)
        {
            samples[i] = [];
        }

        foreach (LoggedBlock block in log.Blocks.Where(block => block.Time < recording.End))
        {
            (StackPlace place, string type) = sites[block.Stack];
            double since = (block.Time - log.Start) / 1e9;
            samples[Math.Clamp((int)(since / window * samples.Length), 0, samples.Length - 1)].Add(new AllocationSample
            {
                Type = type,
                Size = Math.Max(1, block.Size),
                Stack = [place],
                Lifetime = LifetimeOf(block, since, recording.End, window),
                Release = ReleaseOf(block, recording.End),
            });
        }

        return [.. samples.Select(slice => new SampleSlice { Seconds = window / samples.Length, Samples = slice })];
    }

    /// <summary>
    /// What became of a block. Whether one is kept is only asked of blocks that could have grown old enough within the window: of the
    /// others those that live long would be missing.
    /// </summary>
    /// <param name="block">The block.</param>
    /// <param name="since">Seconds from the begin of the window to its allocation.</param>
    /// <param name="end">The end of the window, on the log's clock.</param>
    /// <param name="window">The seconds of the window.</param>
    internal static Lifetime? LifetimeOf(LoggedBlock block, double since, long end, double window)
    {
        if (!block.IsFollowed)
        {
            return null;
        }

        double young = YoungSeconds(window);
        double seen = (end - block.Time) / 1e9;
        double? lived = block.FreeTime is { } free && free <= end ? (free - block.Time) / 1e9 : null;
        Fate fate = (lived ?? seen) switch
        {
            var age when age <= young => seen < young || lived is null ? Fate.Unseen : Fate.DiedYoung,
            _ when seen < KeptSeconds(window) => Fate.Undecided,
            var age when age < KeptSeconds(window) => Fate.DiedLater,
            _ => Fate.Kept,
        };
        return new Lifetime(fate, (long)(since / young));
    }

    private static SampleRelease? ReleaseOf(LoggedBlock block, long end) => !block.IsFollowed
        ? null
        : block.FreeTime is { } free && free <= end
            ? new SampleRelease((free - block.Time) / 1e9, block.FreeThread != block.Thread)
            : new SampleRelease(null, false);

    private static IEnumerable<ulong> FramesOf(SampleLog log, int stack) =>
        log.Stacks.TryGetValue(stack, out ulong[]? frames) ? frames.Take(MostFrames) : [];

    private static List<StackPlace> StackOf(SampleLog log, int stack, AddressNames names) =>
        [.. FramesOf(log, stack).SelectMany(address => names.PlacesOf(log, address))];

    private static (StackPlace Place, string Type) SiteOf(List<StackPlace> stack)
    {
        StackPlace? user = stack.FirstOrDefault(static place => !NativeFrame.IsLibrary(place));
        string module = stack is [var first, ..] ? first.Module : "unknown";
        return (user ?? new StackPlace(module, $"({module})", "", 0), NativeFrame.TypeOf(stack));
    }
}
