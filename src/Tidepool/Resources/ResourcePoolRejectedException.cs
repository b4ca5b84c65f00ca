namespace Tidepool;

/// <summary>The rental was refused at once, because as many as may wait were waiting.</summary>
public sealed class ResourcePoolRejectedException : ResourcePoolException
{
    internal ResourcePoolRejectedException(PoolReport report, string knob)
        : base(report.DescribeRejection(knob), report, report.LastCreateError)
    {
    }
}
