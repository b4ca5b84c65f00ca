namespace Tidepool;

/// <summary>
/// Collects leases of any kind and returns them all when disposed, in reverse order. Not thread-safe; reusable after Dispose.
/// </summary>
public sealed class LeaseScope : IDisposable
{
    private readonly List<Ticket> _tickets = [];

    /// <summary>The number of leases that wait for the end of the scope.</summary>
    public int Count => _tickets.Count;

    /// <summary>Hands a lease to the scope.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="lease">An active lease. It may still be used, and even returned early: that is only counted.</param>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    public void Add<T>(BufferLease<T> lease) => _tickets.Add(LeaseTickets.Of(lease));

    /// <summary>Hands an object lease to the scope.</summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="lease">An active lease. It may still be used, and even returned early: that is only counted.</param>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    public void Add<T>(ObjectLease<T> lease)
        where T : class => _tickets.Add(LeaseTickets.Of(lease));

    /// <summary>Returns every lease, the last one first, all of them even when some fail.</summary>
    /// <exception cref="AggregateException">Returns failed; it holds their exceptions.</exception>
    public void Dispose() => LeaseTickets.DisposeAll(_tickets);
}
