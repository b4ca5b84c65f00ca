namespace Tidepool;

/// <summary>Carried by the lease alone: when the garbage collector finds it, every copy of the lease was dropped without being returned.</summary>
internal sealed class LeaseSentinel(Action<object, long> reclaim, object slot, long ticket) : IDisposable
{
    ~LeaseSentinel() => reclaim(slot, ticket);

    /// <summary>The lease was returned.</summary>
    public void Dispose() => GC.SuppressFinalize(this);
}
