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
        OldestHolders = report.Holders;
    }

    /// <summary>The name of the pool.</summary>
    public string PoolName { get; }

    /// <summary>
    /// The key of a keyed pool as its <see cref="object.ToString"/> shows it, at most 128 characters; empty for a pool without keys.
    /// </summary>
    public string Key { get; }

    /// <summary>The pool at the moment of the failure.</summary>
    public ResourcePoolStatistics Statistics { get; }

    /// <summary>How long the oldest lease had been out, or null when none was.</summary>
    public TimeSpan? OldestLeaseAge { get; }

    /// <summary>Where the oldest leases were rented, the oldest first.</summary>
    /// <remarks>Empty unless <see cref="ResourcePoolOptions.LeakCapture"/> is on.</remarks>
    public IReadOnlyList<string> OldestHolders { get; }
}

/// <summary>
/// The creation that the rental waited for failed. The inner exception is what the policy threw, or a <see cref="TimeoutException"/>.
/// </summary>
public sealed class ResourceCreateException : ResourcePoolException
{
    internal ResourceCreateException(PoolReport report, Exception cause)
        : base(report.DescribeCreateFailure(cause), report, cause)
    {
    }
}

/// <summary>
/// No resource came free in time. The inner exception is the last failure of a creation, when that is what the pool waits for.
/// </summary>
public sealed class ResourcePoolTimeoutException : ResourcePoolException
{
    internal ResourcePoolTimeoutException(PoolReport report, TimeSpan timeout)
        : base(report.DescribeTimeout(timeout), report, report.LastCreateError) => WaitedFor = timeout;

    /// <summary>The timeout that passed.</summary>
    public TimeSpan WaitedFor { get; }
}

/// <summary>The rental was refused at once, because as many as may wait were waiting.</summary>
public sealed class ResourcePoolRejectedException : ResourcePoolException
{
    internal ResourcePoolRejectedException(PoolReport report, string knob)
        : base(report.DescribeRejection(knob), report, report.LastCreateError)
    {
    }
}

/// <summary>The pool was shut down.</summary>
public sealed class ResourcePoolShutdownException : ResourcePoolException
{
    internal ResourcePoolShutdownException(PoolReport report)
        : base($"Pool {PoolReport.Subject(report.Name, report.Key)} was shut down and rents no more.", report, null)
    {
    }
}
