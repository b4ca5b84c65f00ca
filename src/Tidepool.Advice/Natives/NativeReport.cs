namespace Tidepool.Advice;

/// <summary>How a native program was looked at.</summary>
internal sealed record NativeWindow
{
    /// <summary>The mean bytes between two samples.</summary>
    public required long MeanBytes { get; init; }

    /// <summary>The exit code; null when the program was stopped because the window was over.</summary>
    public int? ExitCode { get; init; }

    /// <summary>How many other processes of the command allocated less.</summary>
    public int OtherProcesses { get; init; }

    /// <summary>Whether places have no names because the program is missing that finds them.</summary>
    public bool LacksNames { get; init; }
}

/// <summary>Makes the report on a native program.</summary>
internal static class NativeReport
{
    /// <summary>What the report calls the runtime.</summary>
    public const string Runtime = "native";

    /// <summary>The report on what was recorded.</summary>
    /// <param name="name">The name of the program.</param>
    /// <param name="recording">What was recorded.</param>
    /// <param name="limits">The limits of the verdicts.</param>
    /// <param name="stop">
    /// Ends the search for names and the measurement of costs early, with what is known by then. One that is cancelled already has ended
    /// the window, and does not end this.
    /// </param>
    public static async Task<AdviceReport> OfAsync(string name, NativeRecording recording, AdviceLimits limits, CancellationToken stop)
    {
        stop = stop.IsCancellationRequested ? CancellationToken.None : stop;
        AddressNames names = await AddressNames.ReadAsync(recording.Log, NativeSites.AddressesOf(recording.Log), stop);
        return Of(name, recording, names, new AllocatorClock(stop).PairSeconds, limits);
    }

    /// <summary>The report on what was recorded, once its addresses have names. Pure.</summary>
    /// <param name="name">The name of the program.</param>
    /// <param name="recording">What was recorded.</param>
    /// <param name="names">The names.</param>
    /// <param name="pairSeconds">What a malloc and a free of a size cost.</param>
    /// <param name="limits">The limits of the verdicts.</param>
    internal static AdviceReport Of(
        string name, NativeRecording recording, AddressNames names, Func<long, double> pairSeconds, AdviceLimits limits)
    {
        SampleLog log = recording.Log;
        IReadOnlyList<SampleSlice> slices = NativeSites.SlicesOf(recording, names);
        var advisor = new NativeAdvisor(slices.Count, recording.Seconds, pairSeconds, limits);
        var sampling = new SamplingResult
        {
            Slices = [slices[0] with { LostEvents = log.Lost }, .. slices.Skip(1)],
            Seconds = recording.Seconds,
        };
        var target = new TargetProcess { Id = log.Process, Name = name, Runtime = Runtime };
        return AdviceReport.Of(target, sampling, 0, advisor.Judge) with
        {
            Pools = new PoolReport { Pools = NativeClassJudge.Judge(recording, limits) is { } classes ? [classes] : [] },
            Native = new NativeWindow
            {
                MeanBytes = log.MeanBytes,
                ExitCode = recording.ExitCode,
                OtherProcesses = recording.OtherProcesses,
                LacksNames = names.IsMissing,
            },
        };
    }
}
