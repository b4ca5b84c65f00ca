namespace Tidepool;

/// <summary>
/// An exclusive lease that many renters share. It is open until it is due or broken; the last one to leave gives the lease back, and a pool
/// whose resource is due ends it then.
/// </summary>
internal sealed class SharedResource<T>(ResourceLease<T> lease, Action forget)
    where T : class
{
    private readonly Lock _gate = new();
    private int _renters;
    private bool _isClosed;
    private bool _isBroken;

    internal T Value { get; } = lease.Value;

    /// <summary>Joins, unless the resource is to be replaced or the last renter has just left.</summary>
    internal bool TryJoin(out SharedLease<T> joined)
    {
        joined = default;
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            _renters++; // from here on the slot is not others'
        }

        // Not under the gate: the policy's code runs here.
        bool mayServe = lease.Slot!.Core.MayServe(lease.Slot);
        lock (_gate)
        {
            _isClosed |= !mayServe;
            mayServe = !_isClosed;
        }

        if (!mayServe)
        {
            Leave();
            return false;
        }

        joined = new SharedLease<T>(new SharedTicket<T>(this));
        return true;
    }

    internal void Mark()
    {
        lock (_gate)
        {
            _isClosed = _isBroken = true;
        }
    }

    internal void Leave()
    {
        bool isBroken;
        lock (_gate)
        {
            if (--_renters > 0)
            {
                return;
            }

            _isClosed = true;
            isBroken = _isBroken;
        }

        try
        {
            forget(); // which asks the comparer of the keys
        }
        finally
        {
            if (isBroken)
            {
                lease.MarkBroken();
            }

            lease.Dispose();
        }
    }
}
