namespace Tidepool;

/// <summary>The pool was shut down.</summary>
public sealed class ResourcePoolShutdownException : ResourcePoolException
{
    internal ResourcePoolShutdownException(PoolReport report)
        : base($"Pool '{report.Name}' was shut down and rents no more.", report, null)
    {
    }
}
