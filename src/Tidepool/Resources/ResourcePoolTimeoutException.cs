namespace Tidepool;

/// <summary>No resource came free in time. The inner exception is the last failure of a creation, when that is what the pool waits for.</summary>
public sealed class ResourcePoolTimeoutException : ResourcePoolException
{
    internal ResourcePoolTimeoutException(PoolReport report, TimeSpan timeout)
        : base(report.DescribeTimeout(timeout), report, report.LastCreateError) => WaitedFor = timeout;

    /// <summary>The timeout that passed.</summary>
    public TimeSpan WaitedFor { get; }
}
