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
    private bool _wasJoined;
    private bool _isClosed;
    private bool _isBroken;

    internal T Value { get; } = lease.Value;

    /// <summary>Joins, unless the resource is to be replaced or the last renter has just left.</summary>
    internal bool TryJoin(out SharedLease<T> joined)
    {
        joined = default;
        bool looks;
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            // The first one has it as it was rented: a policy that calls everything broken must not make this go round without end.
            looks = _wasJoined;
            _wasJoined = true;
            _renters++;
        }

        // Asked as one of the renters, so that it does not end meanwhile, and not under the gate, because the policy's code runs here.
        Schedule.Point("shared: joined");
        if (lease.Slot!.Core.IsStillGood(lease.Slot, looks))
        {
            joined = new SharedLease<T>(new SharedTicket<T>(this));
            return true;
        }

        lock (_gate)
        {
            _isClosed = true;
        }

        Leave();
        return false;
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
        Schedule.Point("shared: leave");
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

/// <summary>One renter's part of a shared resource; retired once.</summary>
internal sealed class SharedTicket<T>(SharedResource<T> shared)
    where T : class
{
    private SharedResource<T>? _shared = shared;

    internal T? Value => Volatile.Read(ref _shared)?.Value;

    internal bool TryMark()
    {
        if (Volatile.Read(ref _shared) is not { } shared)
        {
            return false;
        }

        shared.Mark();
        return true;
    }

    internal void Dispose()
    {
        Schedule.Point("shared: end");
        Interlocked.Exchange(ref _shared, null)?.Leave();
    }
}
