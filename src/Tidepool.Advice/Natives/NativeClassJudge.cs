namespace Tidepool.Advice;

/// <summary>Judges the size classes of the native library by what a program asked its malloc for. Pure.</summary>
internal static class NativeClassJudge
{
    /// <summary>What the report calls the library's malloc.</summary>
    public const string Kind = "native";

    private const double Scale = 1024; // so that whole numbers have the weights of rarely sampled small sizes too

    /// <summary>The verdict on the classes; null where too few samples, or too few of the bytes, have one, or too many are lost.</summary>
    /// <param name="recording">What was recorded.</param>
    /// <param name="limits">The limits.</param>
    public static PoolAdvice? Judge(NativeRecording recording, AdviceLimits limits)
    {
        int[] classes = [.. recording.Log.Classes.Where(static size => size <= NativeClasses.Largest).Order()];
        LoggedBlock[] blocks = classes is [.., var largest]
            ? [.. recording.Log.Blocks.Where(block => block.Time < recording.End && block.Size <= largest)]
            : [];
        SizeRequest[] requests = [.. blocks.Select(block => RequestOf(block.Size, classes))];
        double bytes = recording.Log.Blocks.Where(block => block.Time < recording.End).Sum(static block => BytesOf(block.Size));
        if (AdviceReport.IsTorn(recording.Log.Lost, recording.Log.Blocks.Count)
            || requests.Sum(static request => request.Asked * request.Times) < limits.Share * bytes
            || SizeClassFit.Of(requests, Fit) is not { } fit)
        {
            return null;
        }

        return new PoolAdvice
        {
            Name = "malloc",
            Kind = Kind,
            RentedPerSecond = requests.Sum(static request => request.Times) / recording.Seconds,
            Classes = fit,
            Findings = [FindingOf(fit, HeldLess(blocks[^fit.HeldOut..], recording.End, classes, [.. fit.Lengths]))],
        };
    }

    private static PoolFinding FindingOf(SizeClassFit fit, double? heldLess)
    {
        string gain = $"{Quantity.Percent(fit.Gain.Value)} ({Quantity.Percent(fit.Gain.Low)} to {Quantity.Percent(fit.Gain.High)})";
        string measured = $"on {fit.HeldOut} sampled requests that it was not made from, the best table of size classes makes the native "
            + $"library hand out {gain} less";
        var finding = new PoolFinding
        {
            Verdict = fit.IsWorthIt ? PoolVerdict.Change : PoolVerdict.Keep,
            Subject = "size classes",
            Reason = fit.IsWorthIt
                ? $"{measured}: unused {Quantity.Percent(fit.WasteNow)} now, {Quantity.Percent(fit.Waste)} then"
                    + (heldLess is { } share ? $"; at a time its blocks hold {Quantity.Percent(share)} less." : ".")
                : $"{measured}; another table pays from {Quantity.Percent(SizeClassFit.SmallestGain)}.",
        };
        return fit.IsWorthIt ? finding with { Native = ClassText.Native(fit.Lengths, elementBytes: 1) } : finding;
    }

    private static SizeRequest RequestOf(long size, int[] classes)
    {
        int asked = (int)Math.Max(size, 1);
        int found = Array.BinarySearch(classes, asked);
        return new SizeRequest(asked, classes[found >= 0 ? found : ~found], 1 / AllocationEstimate.ProbabilityOf(asked));
    }

    /// <summary>
    /// How much less the blocks hold on average with other classes. A block that lives longer counts more, as it does in the memory of the
    /// process. Null where none was followed.
    /// </summary>
    private static double? HeldLess(IEnumerable<LoggedBlock> blocks, long end, int[] classesNow, int[] classesThen)
    {
        double now = 0;
        double then = 0;
        foreach (LoggedBlock block in blocks.Where(static block => block.IsFollowed))
        {
            double lived = Math.Min(block.FreeTime ?? end, end) - block.Time;
            now += lived * GivenBytes(RequestOf(block.Size, classesNow));
            then += lived * GivenBytes(RequestOf(block.Size, classesThen));
        }

        return now > 0 ? 1 - then / now : null;
    }

    private static double GivenBytes(SizeRequest request) => request.Given * request.Times;

    private static double BytesOf(long size) => Math.Max(1, size) / AllocationEstimate.ProbabilityOf(Math.Max(1, size));

    private static SizeClasses Fit(IReadOnlyList<SizeRequest> requests) => SizeClasses.FromLengths(
        [.. NativeClasses.Best(requests.Select(static request => (request.Asked, (long)Math.Round(request.Times * Scale))))]);
}
