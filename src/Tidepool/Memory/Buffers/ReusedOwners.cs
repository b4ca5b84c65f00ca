using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Gives leases to owners that were used before.</summary>
internal static class ReusedOwners
{
    /// <summary>By an owner that waits in the ring of the lease's home magazine.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static PooledOwner<T> Guarded<T>(BufferLease<T> lease)
    {
        Magazine home = lease.Slot!.Home;
        if (home.Owners?.TryTake() is not { } owner)
        {
            return GuardedSlow(lease, home);
        }

        var reused = Unsafe.As<PooledOwner<T>>(owner);
        reused.Bind(lease.Slot, lease.Rental);
        return reused;
    }

    /// <summary>By the one owner of the lease's slot.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static PooledOwner<T> Unguarded<T>(BufferLease<T> lease)
    {
        var slot = Unsafe.As<PooledSlot<T>>(lease.Slot!); // a BufferPool has no others
        if (slot.Owner is not { } owner)
        {
            return UnguardedSlow(slot, lease);
        }

        owner.Begin(lease.Rental);
        return owner;
    }

    /// <summary>
    /// A new owner, which the slot keeps; in full checks each rental has its own, so that a stale memory throws for good.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static PooledOwner<T> UnguardedSlow<T>(PooledSlot<T> slot, BufferLease<T> lease)
    {
        var owner = new PooledOwner<T>(lease, OwnerKind.Owner);
        if (slot.Core.Settings.Checks != PoolChecks.Full)
        {
            slot.Owner = owner;
        }

        return owner;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static PooledOwner<T> GuardedSlow<T>(BufferLease<T> lease, Magazine home)
    {
        // A closed home belongs to no thread, so nothing could be reused there.
        if (!home.IsClosed && home.Owners is null)
        {
            // Those that always wait are made at once, so that a steady number of renters makes no more. A trim may take the ring away
            // again.
            var ring = new OwnerRing();
            for (int i = 0; i < OwnerRing.Delay; i++)
            {
                ring.Put(new PooledOwner<T>(lease, OwnerKind.Reused));
            }

            home.Owners = ring;
        }

        return new PooledOwner<T>(lease, home.IsClosed ? OwnerKind.Owner : OwnerKind.Reused);
    }
}
