namespace Tidepool;

/// <summary>Held by the lease alone: when the garbage collector finds it, every copy of the lease was dropped without being returned.</summary>
internal sealed class LeaseSentinel<T>(ResourceSlot<T> slot, long ticket) : LeaseOwner<T>(slot), IDisposable
    where T : class
{
    ~LeaseSentinel() => Slot.Core.Reclaim(Slot, ticket);

    /// <summary>Whether this watches the rental of <paramref name="other"/>.</summary>
    internal bool Watches(long other) => ticket == other;

    /// <summary>The lease was returned.</summary>
    public void Dispose() => GC.SuppressFinalize(this);
}
