using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Gives leases to owners that were used before: those that wait in the ring of the lease's home magazine.</summary>
internal static class OwnerReuse
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static PooledOwner<T> Wrap<T>(BufferLease<T> lease)
    {
        Magazine home = lease.Slot!.Home;
        if (home.Owners?.TryTake() is not { } owner)
        {
            return WrapSlow(lease, home);
        }

        var reused = Unsafe.As<PooledOwner<T>>(owner);
        reused.Bind(lease.Slot, lease.Rental);
        return reused;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static PooledOwner<T> WrapSlow<T>(BufferLease<T> lease, Magazine home)
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
