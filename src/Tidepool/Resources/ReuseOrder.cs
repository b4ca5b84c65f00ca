namespace Tidepool;

/// <summary>Which idle resource is rented next.</summary>
public enum ReuseOrder
{
    /// <summary>The one returned last: it is warm, and what a shrinking load no longer needs grows old and is ended.</summary>
    LastIn,

    /// <summary>The one that has been idle for longest: spreads the load over all, as behind a load balancer.</summary>
    FirstIn,
}
