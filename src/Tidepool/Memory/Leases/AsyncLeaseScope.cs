namespace Tidepool;

/// <summary>
/// Collects leases of any kind, those that are disposed asynchronously included, and returns them all in reverse order. Not thread-safe.
/// </summary>
public sealed class AsyncLeaseScope : IAsyncDisposable
{
    private readonly List<object> _leases = [];

    /// <summary>The number of leases that wait for the end of the scope.</summary>
    public int Count => _leases.Count;

    /// <summary>Hands a buffer lease to the scope.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="lease">An active lease.</param>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    public void Add<T>(BufferLease<T> lease) => _leases.Add(LeaseTickets.Of(lease));

    /// <summary>Hands an object lease to the scope.</summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="lease">An active lease. It may still be used, and even returned early: that is only counted.</param>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    public void Add<T>(ObjectLease<T> lease)
        where T : class => _leases.Add(LeaseTickets.Of(lease));

    /// <summary>Hands a lease that is returned asynchronously to the scope.</summary>
    /// <param name="lease">The lease.</param>
    /// <exception cref="ArgumentNullException"><paramref name="lease"/> is null.</exception>
    public void Add(IAsyncDisposable lease)
    {
        ArgumentNullException.ThrowIfNull(lease);
        _leases.Add(lease);
    }

    /// <summary>Returns every lease, the last one first, all of them even when some fail.</summary>
    /// <exception cref="AggregateException">Returns failed; it holds their exceptions.</exception>
    public async ValueTask DisposeAsync()
    {
        List<Exception>? failures = null;
        while (_leases.Count > 0)
        {
            object lease = _leases[^1];
            _leases.RemoveAt(_leases.Count - 1);
            try
            {
                if (lease is Ticket ticket)
                {
                    ticket.Dispose();
                }
                else
                {
                    await ((IAsyncDisposable)lease).DisposeAsync().ConfigureAwait(false);
                }
            }
            catch (Exception e)
            {
                (failures ??= []).Add(e);
            }
        }

        LeaseTickets.Throw(failures);
    }
}
