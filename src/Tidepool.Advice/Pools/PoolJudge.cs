namespace Tidepool.Advice;

/// <summary>The limits of the verdicts on pools, each printed with the verdict that it decides.</summary>
internal sealed record PoolLimits
{
    /// <summary>The fewest rentals that decide anything.</summary>
    public int Rentals { get; init; } = 1000;

    /// <summary>The largest share of rentals that may find nothing idle.</summary>
    public double MissRate { get; init; } = 0.1;

    /// <summary>The share of the misses that one cause must explain.</summary>
    public double Cause { get; init; } = 0.5;

    /// <summary>The share of what any number of places would serve that the suggested number must.</summary>
    public double Served { get; init; } = 0.9;
}

/// <summary>Judges pools of memory that Tidepool made. Pure: the same record gets the same verdicts.</summary>
internal static class PoolJudge
{
    /// <summary>The verdicts on one pool.</summary>
    public static PoolAdvice Judge(PoolRecord record, PoolLimits limits)
    {
        if (record.Last.MaxSize >= 0)
        {
            return ResourceJudge.Judge(record, limits);
        }

        SizeClassFit? fit = record.Traffic is { } traffic ? SizeClassFit.Of(traffic.Requests) : null;
        long rented = record.Last.Rented - record.First.Rented;
        long missed = record.Last.Missed - record.First.Missed;
        List<PoolFinding> findings = [.. MisuseJudge.Judge(record), JudgeCapacity(record, rented, missed, limits)];
        if (fit is not null)
        {
            findings.Add(JudgeClasses(fit, record.Last.ElementBytes));
        }

        return new PoolAdvice
        {
            Name = record.Last.Name,
            Kind = record.Last.Kind,
            RentedPerSecond = rented / record.Seconds,
            HitRate = PoolAdvice.HitRateOf(rented, missed),
            DroppedPerSecond = (record.Last.Dropped - record.First.Dropped) / record.Seconds,
            HitRates = rented > 0 && record.Classes.Any(static one => one.IsKept) ? HitRatesOf(record, rented, missed) : null,
            Classes = fit,
            Findings = [.. findings.OrderBy(static finding => finding.Verdict)],
        };
    }

    private static PoolFinding JudgeCapacity(PoolRecord record, long rented, long missed, PoolLimits limits)
    {
        if (rented < limits.Rentals)
        {
            return PoolFinding.Capacity(PoolVerdict.NotEnoughEvidence, $"{rented} rentals in the window; {limits.Rentals} decide.");
        }

        if (missed < limits.MissRate * rented)
        {
            return PoolFinding.Capacity(
                PoolVerdict.Keep,
                $"idle items served {Quantity.Percent(1 - (double)missed / rented)} of the rentals: no more room is needed.");
        }

        string share = $"{Quantity.Percent((double)missed / rented)} of the rentals found nothing idle";
        double cause = limits.Cause * missed;
        PoolClass[] unkept = [.. record.Classes.Where(static one => !one.IsKept && one.Missed > 0)];
        if (unkept.Sum(static one => one.Missed) >= cause)
        {
            return PoolFinding.Oversize(share, unkept.Select(static one => (one.Length, one.Missed)), record.Seconds) with
            {
                After = $"MaxLength = {unkept.Max(static one => one.Length)},   // or ask for parts: PooledMemoryStream, "
                    + "PooledSequenceWriter<T>",
            };
        }

        if (record.Classes.Sum(static one => one.Served is [.., var most] ? most : 0) >= cause)
        {
            return JudgeRoom(record, share, missed, limits);
        }

        long grown = record.Last.Leased - record.First.Leased;
        if (grown >= cause)
        {
            return new PoolFinding
            {
                Verdict = PoolVerdict.Suspect,
                Subject = "leak",
                Reason = $"{share}, and {grown} more items are out than when the window began: they do not come back, or the program "
                    + "needs ever more at a time.",
                After = "LeakSampling = 1,   // then the report of a dropped rental says where it was rented",
            };
        }

        return PoolFinding.Capacity(PoolVerdict.NotEnoughEvidence, $"{share}, {CauseOf(record, cause)}");
    }

    private static string CauseOf(PoolRecord record, double cause) =>
        record.Last.Trimmed - record.First.Trimmed >= cause
            ? "after idle ones had been trimmed: bursts with pauses between them, in which the memory went back. "
                + "That is what trimming is for."
        : record.Last.Refused - record.First.Refused >= cause
            ? "because the policy refused objects when they came back: look at what resets or validates them."
        : "but few were dropped for want of room: the pool was still growing, or rentals leave it for good (detached). Run again.";

    private static PoolFinding JudgeRoom(PoolRecord record, string share, long missed, PoolLimits limits)
    {
        long bytes = 0;
        long served = 0;
        List<string> rooms = [];
        var helped = record.Classes.Where(static one => one.Served is [.., > 0]);
        foreach (PoolClass one in helped.OrderByDescending(static one => one.Served[^1]))
        {
            int step = Enumerable.Range(0, one.Served.Count).First(k => one.Served[k] >= limits.Served * one.Served[^1]);
            served += one.Served[step];
            bytes += one.Bytes << step;
            rooms.Add(
                record.Last.ElementBytes > 0 ? $"{1 << step} more of {one.Length} elements" : $"{1 << step} more");
        }

        string where = string.Join(", ", rooms.Take(4)) + (rooms.Count > 4 ? $", and {rooms.Count - 4} further lengths" : "");
        string reason = $"{share}, after some had been dropped for want of room. {where} ({Quantity.Bytes(bytes)}) would have served "
            + $"{Quantity.Percent((double)served / missed)} of these misses.";
        long budget = record.Last.BudgetBytes;
        if (budget < 0)
        {
            return PoolFinding.Capacity(
                PoolVerdict.Change,
                reason + " The pool shares the budget of the process, a quarter of its memory, which is used up: give the pools that hold "
                    + "most of it a Budget of their own, or the process more memory.");
        }

        long unit = record.Last.ElementBytes > 0 ? 1 : Math.Max(1, record.Classes.Max(static one => one.Bytes));
        return PoolFinding.Capacity(PoolVerdict.Change, reason) with
        {
            Before = $"Budget = {Separated(budget / unit)},",
            After = $"Budget = {Separated((budget + bytes + unit - 1) / unit)},",
        };
    }

    private static PoolFinding JudgeClasses(SizeClassFit fit, int elementBytes)
    {
        string gain = $"{Quantity.Percent(fit.Gain.Value)} ({Quantity.Percent(fit.Gain.Low)} to {Quantity.Percent(fit.Gain.High)})";
        string measured = $"on {fit.HeldOut} requests that it was not made from, a table made from others hands out {gain} less";
        var finding = new PoolFinding
        {
            Verdict = fit.IsWorthIt ? PoolVerdict.Change : PoolVerdict.Keep,
            Subject = "size classes",
            Reason = fit.IsWorthIt
                ? $"{measured}: unused {Quantity.Percent(fit.WasteNow)} now, {Quantity.Percent(fit.Waste)} then."
                : $"{measured}; another table pays from {Quantity.Percent(SizeClassFit.SmallestGain)}.",
        };
        return fit.IsWorthIt
            ? finding with { After = ClassText.CSharp(fit.Lengths), Native = ClassText.Native(fit.Lengths, elementBytes) }
            : finding;
    }

    private static List<PlaceRate> HitRatesOf(PoolRecord record, long rented, long missed)
    {
        int steps = record.Classes.Max(static one => one.Served.Count);
        List<PlaceRate> rates = [new(0, Math.Clamp(1 - (double)missed / rented, 0, 1))];
        for (int step = 0; step < steps; step++)
        {
            long served = record.Classes.Sum(one => step < one.Served.Count ? one.Served[step] : 0);
            rates.Add(new PlaceRate(1 << step, Math.Clamp(1 - (double)(missed - served) / rented, 0, 1)));
        }

        return rates;
    }

    /// <summary>A number as C# writes it: <c>1_048_576</c>.</summary>
    private static string Separated(long number) =>
        number.ToString("#,0", System.Globalization.CultureInfo.InvariantCulture).Replace(',', '_');
}
