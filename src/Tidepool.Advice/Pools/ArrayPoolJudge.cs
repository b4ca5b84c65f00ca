namespace Tidepool.Advice;

/// <summary>Judges the platform's array pools by their events, which have no lengths that were asked for. Pure.</summary>
internal static class ArrayPoolJudge
{
    private const int ProbabilityDigits = 3;

    /// <summary>The verdicts on one pool.</summary>
    /// <param name="pool">What it did in a window.</param>
    /// <param name="seconds">The length of the window.</param>
    /// <param name="number">The number of the pool in the report: events name neither pool nor element type.</param>
    /// <param name="limits">The limits.</param>
    public static PoolAdvice Judge(PoolTraffic pool, double seconds, int number, PoolLimits limits)
    {
        long rented = pool.Lengths.Sum(static length => length.Rented);
        long allocated = pool.Lengths.Sum(static length => length.Allocated);
        List<PoolFinding> findings = [.. pool.Lengths.Where(static length => length.SuspectedReturns > 0).Select(Suspect)];
        findings.Add(JudgeCapacity(pool, rented, allocated, seconds, limits));
        if (JudgeBalance(pool, rented, limits) is { } leak)
        {
            findings.Add(leak);
        }

        int steps = pool.Lengths.Max(static length => length.Served.Count);
        return new PoolAdvice
        {
            Name = $"ArrayPool {number}",
            Kind = "ArrayPool",
            RentedPerSecond = rented / seconds,
            HitRate = PoolAdvice.HitRateOf(rented, allocated),
            HitRates = rented == 0
                ? null
                : [.. Enumerable.Range(0, steps).Select(step => new PlaceRate(1 << step, (double)ServedBy(pool, step) / rented))],
            Findings = [.. findings.OrderBy(static finding => finding.Verdict)],
        };
    }

    private static PoolFinding JudgeCapacity(PoolTraffic pool, long rented, long allocated, double seconds, PoolLimits limits)
    {
        if (rented < limits.Rentals)
        {
            return PoolFinding.Capacity(PoolVerdict.NotEnoughEvidence, $"{rented} rentals in the window; {limits.Rentals} decide.");
        }

        if (allocated < limits.MissRate * rented)
        {
            return PoolFinding.Capacity(
                PoolVerdict.Keep, $"idle arrays served {Quantity.Percent(1 - (double)allocated / rented)} of the rentals.");
        }

        string share = $"{Quantity.Percent((double)allocated / rented)} of the rentals allocated";
        LengthTraffic[] unkept = [.. pool.Lengths.Where(static length => !length.IsKept)];
        if (unkept.Sum(static length => length.Allocated) >= limits.Cause * allocated)
        {
            return PoolFinding.Oversize(share, unkept.Select(static length => (length.Length, length.Allocated)), seconds) with
            {
                Before = "ArrayPool<T>.Create()",
                After = $"ArrayPool<T>.Create(maxArrayLength: {unkept.Max(static length => length.Length)}, maxArraysPerBucket: 50)   "
                    + "// or BufferPool<T>.Shared.AsArrayPool()",
            };
        }

        LengthTraffic worst = pool.Lengths.MaxBy(static length => length.Allocated)!;
        share += $", most of them {worst.Length} elements (what was asked for is not in the events), and "
            + $"{pool.Lengths.Sum(static length => length.Dropped)} of the returned arrays found no room";
        long most = ServedBy(pool, int.MaxValue);
        if (most <= rented - allocated)
        {
            return PoolFinding.Capacity(
                PoolVerdict.NotEnoughEvidence,
                $"{share}, and more room would not have served them: ever more are out, or they are not returned to this pool.");
        }

        int step = Enumerable.Range(0, worst.Served.Count).First(k => ServedBy(pool, k) >= limits.Served * most);
        return PoolFinding.Capacity(
            PoolVerdict.Change,
            $"{share}. One stack of {1 << step} arrays of each length, for all threads, would have served "
                + $"{Quantity.Percent((double)ServedBy(pool, step) / rented)}.") with
        {
            Before = "ArrayPool<T>.Shared   // or ArrayPool<T>.Create",
            After = "BufferPool<T>.Shared.AsArrayPool()   // keeps what the budget allows, in bytes and not in arrays for each length",
        };
    }

    private static PoolFinding? JudgeBalance(PoolTraffic pool, long rented, PoolLimits limits)
    {
        long missing = rented - pool.Lengths.Sum(static length => length.Returned);
        return rented >= limits.Rentals && missing >= limits.MissRate * rented
            ? new PoolFinding
            {
                Verdict = PoolVerdict.Suspect,
                Subject = "leak",
                Reason = $"{missing} more arrays were rented than returned in the window: each one that is dropped is garbage, and the "
                    + "pool allocates another.",
                After = "BufferPool<T>.Shared.AsArrayPool()   // watches one new array in 64, and reports where a dropped one was rented",
            }
            : null;
    }

    private static PoolFinding Suspect(LengthTraffic length) => new()
    {
        Verdict = PoolVerdict.Suspect,
        Subject = "double return",
        Reason = $"{length.SuspectedReturns} returns of arrays of {length.Length} elements that were in the pool already. Suspected, not "
            + $"proved: events tell arrays apart by 26 bits, and two of these {length.Ids} share theirs with probability "
            + $"{Probability(length.CollisionProbability)}.",
        After = "BufferPool<T>.Shared.AsArrayPool()   // with TIDEPOOL_CHECKS=full it throws where an array is returned twice",
    };

    private static string Probability(double probability)
    {
        double percent = probability * 100;
        return percent < 1e-6
            ? "below 0.000001 %"
            : percent.ToString($"G{ProbabilityDigits}", System.Globalization.CultureInfo.InvariantCulture) + " %";
    }

    private static long ServedBy(PoolTraffic pool, int step) =>
        pool.Lengths.Sum(length => length.Served[Math.Min(step, length.Served.Count - 1)]);
}
