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
        SampleLog log = recording.Log;
        AddressNames names = await AddressNames.ReadAsync(log, NativeSites.AddressesOf(log), stop);
        IReadOnlyList<SampleSlice> slices = NativeSites.SlicesOf(recording, names);
        double seconds = Math.Max(1, recording.End - log.Start) / 1e9;
        var advisor = new NativeAdvisor(slices.Count, seconds, new AllocatorClock(stop).PairSeconds, limits);
        var sampling = new SamplingResult
        {
            Slices = [slices[0] with { LostEvents = log.Lost }, .. slices.Skip(1)],
            Seconds = seconds,
        };
        AdviceReport report = AdviceReport.Of(
            new TargetProcess { Id = log.Process, Name = name, Runtime = Runtime }, sampling, 0, advisor.Judge);
        return report with
        {
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
