namespace Tidepool;

/// <summary>How much a pool checks of what its renters do.</summary>
/// <remarks>
/// The mode of the process comes from the environment variable <c>TIDEPOOL_CHECKS</c> (<c>off</c>, <c>default</c>, <c>full</c> or
/// <c>full,stacks</c>), read once at start; an option of a pool overrides it for that pool. In every mode a buffer rented through a lease
/// never has two renters at a time: that protection is part of the lease and costs nothing to leave on.
/// </remarks>
public enum PoolChecks
{
    /// <summary>A wrong return does nothing and is counted. Taking a span of a returned lease still throws.</summary>
    Off,

    /// <summary>Misuse of a lease throws; an array that is returned twice in a row on one thread throws.</summary>
    Default,

    /// <summary>
    /// Every rental is tracked, returned memory is filled with a pattern, waits in quarantine, and is verified before it is reused; foreign
    /// arrays are refused. For tests and for finding a fault: tens of times slower.
    /// </summary>
    Full,
}
