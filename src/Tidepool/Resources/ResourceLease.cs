using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>A rented resource. Dispose it once, on any thread; <c>using</c> and <c>await using</c> do so at the closing brace.</summary>
/// <typeparam name="T">The resource.</typeparam>
/// <remarks>
/// A lease is a small value: the slot and the ticket of the rental. Copies are the same rental, and whichever is disposed first retires
/// all of them: <see cref="Value"/> then throws, a later disposal does nothing and is counted. A resource never has two renters.
/// Thread-safe; a rental allocates nothing unless leak capture or reclaim is on.
/// </remarks>
[DebuggerDisplay("active: {IsActive}")]
public readonly struct ResourceLease<T> : IDisposable, IAsyncDisposable, IEquatable<ResourceLease<T>>
    where T : class
{
    // Every member reads each field once, by one load: another thread may be replacing the lease where it lies.
    private readonly LeaseOwner<T>? _owner;
    private readonly long _ticket;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ResourceLease(LeaseOwner<T> owner, long ticket)
    {
        _owner = owner;
        _ticket = ticket;
    }

    internal ResourceSlot<T>? Slot => _owner?.Slot;

    internal long Ticket => _ticket;

    /// <summary>Whether the rental is still out. False for <c>default</c>.</summary>
    public bool IsActive => _owner is { } owner && owner.Slot.Is(_ticket);

    /// <summary>The resource.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public T Value
    {
        get
        {
            ResourceSlot<T>? slot = _owner?.Slot;
            T? resource = slot?.Resource;
            if (slot is null || !slot.Is(_ticket))
            {
                Refuse(slot);
            }

            return resource!;
        }
    }

    /// <summary>What the pool knows of the resource.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public ResourceLeaseInfo Info
    {
        get
        {
            ResourceLease<T> lease = this;
            if (!lease.TryGetInfo(out ResourceLeaseInfo info))
            {
                Refuse(lease._owner);
            }

            return info;
        }
    }

    /// <summary>Says that the resource must not be rented again: the pool destroys it when the lease is disposed.</summary>
    /// <param name="reason">What happened, for the event source; may be null.</param>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    public void MarkBroken(Exception? reason = null)
    {
        ResourceSlot<T>? slot = Slot;
        if (slot is null || !slot.Core.TryMark(slot, _ticket, reason))
        {
            Refuse(slot);
        }
    }

    /// <summary>Takes the resource out of the pool, which forgets it and has its place free again. The caller ends it.</summary>
    /// <returns>The resource.</returns>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    public T Detach()
    {
        (LeaseOwner<T>? owner, long ticket) = (_owner, _ticket);
        if (owner is null || !owner.Slot.Core.TryDetach(owner.Slot, ticket, out T? resource))
        {
            Refuse(owner);
            return null;
        }

        EndSentinel(owner, ticket);
        return resource;
    }

    /// <summary>
    /// Returns the resource. A lease that is over, or <c>default</c>, does nothing. Never throws for the policy. Takes the pool's lock only
    /// when something waits or must be decided; a synchronous reset runs here (<see cref="ResetMode.OnReturn"/>), an asynchronous one
    /// begins here.
    /// </summary>
    public void Dispose()
    {
        (LeaseOwner<T>? owner, long ticket) = (_owner, _ticket);
        if (owner is not null)
        {
            EndSentinel(owner, ticket);
            owner.Slot.Core.Return(owner.Slot, ticket);
        }
    }

    /// <summary>Returns the resource as <see cref="Dispose"/> does, and waits for the reset where the pool resets on return.</summary>
    public ValueTask DisposeAsync()
    {
        (LeaseOwner<T>? owner, long ticket) = (_owner, _ticket);
        if (owner is null)
        {
            return default;
        }

        EndSentinel(owner, ticket);
        return owner.Slot.Core.ReturnAsync(owner.Slot, ticket);
    }

    /// <summary>Gets the resource of an active lease, for other leases over this one that refuse in their own words.</summary>
    internal bool TryGetValue([NotNullWhen(true)] out T? resource)
    {
        ResourceSlot<T>? slot = Slot;
        resource = slot?.Resource; // read before the ticket: afterwards it may be the next renter's
        return slot is not null && slot.Is(_ticket) && resource is not null;
    }

    /// <summary>Gets what the pool knows of the resource of an active lease, for the same.</summary>
    internal bool TryGetInfo(out ResourceLeaseInfo info)
    {
        ResourceSlot<T>? slot = Slot;
        info = slot is null ? default : new(slot.Id, slot.CreatedAt, slot.Uses, slot.Generation);
        return slot is not null && slot.Is(_ticket);
    }

    /// <inheritdoc/>
    public bool Equals(ResourceLease<T> other) => ReferenceEquals(_owner, other._owner) && _ticket == other._ticket;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is ResourceLease<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(RuntimeHelpers.GetHashCode(_owner), _ticket);

    /// <summary>Whether both are the same rental.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator ==(ResourceLease<T> left, ResourceLease<T> right) => left.Equals(right);

    /// <summary>Whether they are different rentals.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator !=(ResourceLease<T> left, ResourceLease<T> right) => !left.Equals(right);

    /// <summary>Ends the watch over this rental. A sentinel of another one, in a lease that was torn, goes on.</summary>
    private static void EndSentinel(LeaseOwner<T> owner, long ticket)
    {
        if (!ReferenceEquals(owner.Slot, owner) && ((LeaseSentinel<T>)owner).Watches(ticket))
        {
            ((LeaseSentinel<T>)owner).Dispose();
        }
    }

    [DoesNotReturn]
    private static void Refuse(LeaseOwner<T>? owner) => throw new ObjectDisposedException(
        $"ResourceLease<{typeof(T).Name}>",
        owner is null
            ? MisuseText.NeverRented(nameof(ResourceLease<T>))
            : $"The lease was disposed or detached before. Use its value before it is returned{PlaceOf(owner.Slot.Core)}.");

    /// <summary>The key of a keyed pool, with the pool's name; nothing for a pool without keys.</summary>
    private static string PlaceOf(ResourceCore<T> core) =>
        core.Key.Length == 0 ? string.Empty : $" (pool {PoolReport.Subject(core.Name, core.Key)})";
}

/// <summary>What a pool knows of a leased resource.</summary>
/// <param name="Id">The number of the resource in its pool, from 1.</param>
/// <param name="CreatedAt">When it was created.</param>
/// <param name="UseCount">How often it was rented, this time included.</param>
/// <param name="Generation">How often the pool had been cleared when its creation began.</param>
public readonly record struct ResourceLeaseInfo(long Id, DateTimeOffset CreatedAt, long UseCount, int Generation);

/// <summary>What a lease refers to: its slot, or a sentinel before it.</summary>
internal abstract class LeaseOwner<T>
    where T : class
{
    private protected LeaseOwner(ResourceSlot<T>? slot) => Slot = slot ?? (ResourceSlot<T>)this;

    internal ResourceSlot<T> Slot { get; }
}

/// <summary>
/// Held by the lease alone: when the garbage collector finds it, every copy of the lease was dropped without being returned.
/// </summary>
internal sealed class LeaseSentinel<T>(ResourceSlot<T> slot, long ticket) : LeaseOwner<T>(slot), IDisposable
    where T : class
{
    ~LeaseSentinel() => Slot.Core.Reclaim(Slot, ticket);

    /// <summary>Whether this watches the rental of <paramref name="other"/>.</summary>
    internal bool Watches(long other) => ticket == other;

    /// <summary>The lease was returned.</summary>
    public void Dispose() => GC.SuppressFinalize(this);
}
