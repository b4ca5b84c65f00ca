namespace Tidepool;

/// <summary>What is asked of a pool of resources: how often one is rented, and how long it is held.</summary>
/// <remarks>A value, measured by <see cref="Between"/> or made up. Pure arithmetic; no pool is touched.</remarks>
/// <example>
/// <code>
/// var load = new PoolLoad { RentalsPerSecond = 1000, HoldTime = TimeSpan.FromMilliseconds(4) };
/// PoolSizeAdvice advice = load.Advise();
/// Console.WriteLine($"{load.MeanLeased} are held at a time; a pool of {advice.Size} lets few wait");
/// </code>
/// </example>
public readonly record struct PoolLoad
{
    /// <summary>So many leases at a time are no pool of resources, and the search for its size has an end.</summary>
    private const int MostLeased = 100_000;

    /// <summary>How much longer leases must be held under load for the load to be the reason.</summary>
    private const double Slower = 1.25;

    /// <summary>Rentals that are asked for in a second, 0 or more; also those that got no resource.</summary>
    public double RentalsPerSecond { get; init; }

    /// <summary>Leases that end in a second, 0 or more. The default, null, means that all rentals are served.</summary>
    /// <remarks>
    /// Fewer than <see cref="RentalsPerSecond"/> where rentals time out or are refused, because more is asked for than the server can do.
    /// </remarks>
    public double? ServedPerSecond { get; init; }

    /// <summary>How long one is held, on average; zero or more. Add what a reset takes where that is long.</summary>
    public TimeSpan HoldTime { get; init; }

    /// <summary>How many leases are out at a time when all rentals are served: their rate times the time of each (Little's law).</summary>
    public double MeanLeased => RentalsPerSecond * HoldTime.TotalSeconds;

    /// <summary>Rentals that got nothing say nothing of what the server can do.</summary>
    private double Served => Math.Min(ServedPerSecond ?? RentalsPerSecond, RentalsPerSecond);

    /// <summary>Measures the load between two snapshots of one pool.</summary>
    /// <param name="earlier">What <c>GetStatistics</c> said first.</param>
    /// <param name="later">What it said after the time.</param>
    /// <param name="elapsed">The time between the two, more than zero: a minute of ordinary load, say.</param>
    /// <exception cref="ArgumentOutOfRangeException">The time is not more than zero.</exception>
    /// <exception cref="ArgumentException">No lease ended between the two, or the later one is the earlier.</exception>
    public static PoolLoad Between(in ResourcePoolStatistics earlier, in ResourcePoolStatistics later, TimeSpan elapsed)
    {
        if (elapsed <= TimeSpan.Zero)
        {
            throw new ArgumentOutOfRangeException(nameof(elapsed), elapsed, $"{nameof(elapsed)} is {elapsed}; allowed is more than zero.");
        }

        long ended = later.Returned - earlier.Returned;
        if (ended <= 0 || later.HeldTime < earlier.HeldTime)
        {
            throw new ArgumentException(
                $"{nameof(later)} has {later.Returned} leases that ended, {nameof(earlier)} {earlier.Returned}; allowed is more than "
                    + "before, from the same pool.",
                nameof(later));
        }

        long asked = CountRequests(later) - CountRequests(earlier);
        return new PoolLoad
        {
            RentalsPerSecond = Math.Max(0, asked) / elapsed.TotalSeconds,
            ServedPerSecond = ended / elapsed.TotalSeconds,
            HoldTime = (later.HeldTime - earlier.HeldTime) / ended,
        };
    }

    /// <summary>
    /// Says how large a pool for this load should be: the smallest one in which no more than a share of the rentals wait, when callers come
    /// independently of each other (Erlang's formula).
    /// </summary>
    /// <remarks>
    /// The cost grows with the size: microseconds for hundreds. Callers that come in bursts, all at once, wait more than this says.
    /// </remarks>
    /// <param name="waitingShare">The share of rentals that may wait, more than 0 and less than 1; the default is one in a hundred.</param>
    /// <param name="unloaded">
    /// The load of the same pool at a quiet hour, if it is known: where leases were held for less time then, the server is what they wait
    /// for now, and the advice says beyond which size more resources make each answer slower, and bring no more of them.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The share, or a number of <paramref name="unloaded"/>, is out of its
    /// range.</exception>
    /// <exception cref="InvalidOperationException">A number of this load is out of its range, or more than 100,000 are held at a
    /// time.</exception>
    public PoolSizeAdvice Advise(double waitingShare = 0.01, PoolLoad? unloaded = null)
    {
        if (!(waitingShare is > 0 and < 1))
        {
            throw new ArgumentOutOfRangeException(
                nameof(waitingShare), waitingShare, $"{nameof(waitingShare)} is {waitingShare}; allowed is more than 0 and less than 1.");
        }

        if (Refuse(this) is { } refusal)
        {
            throw new InvalidOperationException(refusal);
        }

        if (unloaded is { } other && Refuse(other) is { } refused)
        {
            throw new ArgumentOutOfRangeException(nameof(unloaded), refused);
        }

        (int size, double share) = Smallest(MeanLeased, waitingShare);
        int? useful = unloaded is { } quiet ? UsefulSize(this, quiet) : null;
        return new PoolSizeAdvice
        {
            Size = useful is { } most && most < size ? most : size,
            ForArrivals = size,
            WaitingShare = share,
            UsefulSize = useful,
        };
    }

    /// <summary>The most that answer faster: what is served in a second, times the time of one that has the server for itself.</summary>
    private static int? UsefulSize(PoolLoad busy, PoolLoad quiet) =>
        quiet.HoldTime > TimeSpan.Zero
        && busy.HoldTime.TotalSeconds > quiet.HoldTime.TotalSeconds * Slower
        && busy.RentalsPerSecond > quiet.RentalsPerSecond
            ? Math.Max(1, (int)Math.Ceiling(busy.Served * quiet.HoldTime.TotalSeconds))
            : null;

    /// <summary>
    /// The smallest size with so few that wait. Erlang's recursion: the share that finds all of n in use follows from that of n - 1.
    /// </summary>
    private static (int Size, double Share) Smallest(double leased, double waitingShare)
    {
        double blocked = 1;
        for (int size = 1; ; size++)
        {
            blocked = leased * blocked / (size + (leased * blocked));
            double waiting = size <= leased ? 1 : blocked / (1 - (leased / size * (1 - blocked)));
            if (waiting <= waitingShare)
            {
                return (size, waiting);
            }
        }
    }

    /// <summary>What is out of its range in a load, or null.</summary>
    private static string? Refuse(PoolLoad load) =>
        !(load.RentalsPerSecond >= 0) || double.IsInfinity(load.RentalsPerSecond)
            ? $"{nameof(RentalsPerSecond)} is {load.RentalsPerSecond}; allowed is 0 or more, and finite."
        : !(load.ServedPerSecond is null or >= 0) || double.IsInfinity(load.ServedPerSecond ?? 0)
            ? $"{nameof(ServedPerSecond)} is {load.ServedPerSecond}; allowed is 0 or more, and finite, or null."
        : load.HoldTime < TimeSpan.Zero ? $"{nameof(HoldTime)} is {load.HoldTime}; allowed is zero or more."
        : load.MeanLeased > MostLeased ? $"{nameof(MeanLeased)} is {load.MeanLeased}; allowed is at most {MostLeased}."
        : null;

    private static long CountRequests(in ResourcePoolStatistics pool) =>
        pool.Rented + pool.TimedOut + pool.Cancelled + pool.Rejected + pool.Failed + pool.Waiting;
}
