namespace Tidepool;

/// <summary>The creation that the rental waited for failed. The inner exception is what the policy threw, or a <see cref="TimeoutException"/>.</summary>
public sealed class ResourceCreateException : ResourcePoolException
{
    internal ResourceCreateException(PoolReport report, Exception cause)
        : base(report.DescribeCreateFailure(cause), report, cause)
    {
    }
}
