namespace Tidepool.Advice;

/// <summary>Judges pools of resources, such as connections. Pure: the same record gets the same verdicts.</summary>
internal static class ResourceJudge
{
    private const int FewestRentals = 100;

    /// <summary>The verdicts on one pool.</summary>
    public static PoolAdvice Judge(PoolRecord record, PoolLimits limits)
    {
        long rented = record.Last.Rented - record.First.Rented;
        long created = record.Last.Missed - record.First.Missed;
        PoolFinding[] findings = [.. MisuseJudge.Judge(record), JudgeSize(record, rented, created, limits)];
        return new PoolAdvice
        {
            Name = record.Last.Name,
            Kind = record.Last.Kind,
            RentedPerSecond = rented / record.Seconds,
            HitRate = PoolAdvice.HitRateOf(rented, created),
            Findings = [.. findings.OrderBy(static finding => finding.Verdict)],
        };
    }

    private static PoolFinding JudgeSize(PoolRecord record, long rented, long created, PoolLimits limits)
    {
        PoolSample last = record.Last;
        bool isFull = last.Waiting > 0 && last.Leased >= last.MaxSize;
        if (isFull && last.OldestMilliseconds > record.Seconds * 1000)
        {
            string site = last.OldestSite.Length > 0 ? $"rented {last.OldestSite}" : "rented at an unknown place";
            return new PoolFinding
            {
                Verdict = PoolVerdict.Suspect,
                Subject = "leak",
                Reason = $"{last.Leased} of {last.MaxSize} are out, callers waiting: {last.Waiting}. The oldest lease has been out for "
                    + $"{Quantity.Time(last.OldestMilliseconds)}, longer than the whole window, {site}.",
                After = last.OldestSite.Length > 0 ? null : "LeakCapture = LeakCapture.CallSite,   // says where it was rented",
            };
        }

        if (rented < FewestRentals)
        {
            return Size(PoolVerdict.NotEnoughEvidence, $"{rented} rentals in the window; {FewestRentals} decide.");
        }

        if (isFull)
        {
            return JudgeFull(record, rented);
        }

        return created >= limits.MissRate * rented
            ? Size(
                PoolVerdict.Change,
                $"{Quantity.Percent((double)created / rented)} of the rentals had to make a resource, and "
                    + $"{Quantity.Count((last.Dropped - record.First.Dropped) / record.Seconds)}/s were destroyed: "
                    + "let more of them wait idle.")
                with { After = $"MinIdle = {Math.Max(1, (int)Math.Ceiling(record.MeanLeased))}," }
            : Size(
                PoolVerdict.Keep,
                $"{Quantity.Percent(1 - (double)created / rented)} of the rentals got an idle one, and no caller waits.");
    }

    private static PoolFinding JudgeFull(PoolRecord record, long rented)
    {
        PoolSample last = record.Last;
        double rate = rented / record.Seconds;
        var load = new PoolLoad { RentalsPerSecond = rate, HoldTime = TimeSpan.FromSeconds(record.MeanLeased / rate) };
        int size = load.Advise().Size;
        string seen = $"{last.Leased} of {last.MaxSize} are out, callers waiting: {last.Waiting}. {Quantity.Count(rate)} rentals/s of "
            + $"{Quantity.Time(load.HoldTime.TotalMilliseconds)} each";
        return size > last.MaxSize
            ? Size(PoolVerdict.Change, $"{seen} ask for {size}; or hold each for a shorter time.") with
            {
                Before = $"MaxSize = {last.MaxSize},",
                After = $"MaxSize = {size},",
            }
            : Size(PoolVerdict.NotEnoughEvidence, $"{seen} need only {size}: a burst, or more callers than were counted. Watch it.");
    }

    private static PoolFinding Size(PoolVerdict verdict, string reason) =>
        new() { Verdict = verdict, Subject = "size", Reason = reason };
}
