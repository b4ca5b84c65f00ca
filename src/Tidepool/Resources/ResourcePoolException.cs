namespace Tidepool;

/// <summary>A rental got no resource. The type says why, the message says it with numbers, the properties have them.</summary>
public abstract class ResourcePoolException : Exception
{
    private protected ResourcePoolException(string message, PoolReport report, Exception? cause)
        : base(message, cause)
    {
        PoolName = report.Name;
        Key = report.Key;
        Statistics = report.Statistics;
        OldestLeaseAge = report.OldestLeaseAge;
        TopHolders = report.Holders;
    }

    /// <summary>The name of the pool.</summary>
    public string PoolName { get; }

    /// <summary>The key of a keyed pool as its <see cref="object.ToString"/> shows it, at most 128 characters; empty for a pool without keys.</summary>
    public string Key { get; }

    /// <summary>The pool at the moment of the failure.</summary>
    public ResourcePoolStatistics Statistics { get; }

    /// <summary>How long the oldest lease had been out, or null when none was.</summary>
    public TimeSpan? OldestLeaseAge { get; }

    /// <summary>Where the oldest leases were rented, the oldest first.</summary>
    /// <remarks>Empty unless <see cref="ResourcePoolOptions.LeakCapture"/> is on.</remarks>
    public IReadOnlyList<string> TopHolders { get; }
}
