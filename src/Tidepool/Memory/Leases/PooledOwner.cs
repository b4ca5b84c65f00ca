using System.Buffers;

namespace Tidepool;

/// <summary>
/// A lease as an <see cref="IMemoryOwner{T}"/>. Disposing it again does nothing; racing disposals return the buffer once.
/// </summary>
/// <remarks>
/// Where memory cannot be an array's (native buffers, full checks) the owner itself stands behind it, so it costs nothing more. Such a
/// memory throws once the owner was disposed: for good when owners are fresh, until the owner's next rental when they are reused.
/// </remarks>
internal sealed class PooledOwner<T> : LeaseMemoryManager<T>, IMemoryOwner<T>
{
    private readonly bool _reusable;
    private BufferSlot<T> _slot;
    private ulong _rental;

    internal PooledOwner(BufferLease<T> lease, bool reusable)
    {
        _slot = lease.Slot!;
        _rental = lease.Rental;
        _reusable = reusable;
    }

    public override Memory<T> Memory => _slot.IsPlain ? Lease.Memory : base.Memory;

    protected override BufferLease<T> Lease => new(_slot, _rental);

    public void Dispose()
    {
        BufferLease<T> lease = Lease;
        if (!_reusable)
        {
            lease.Dispose();
            return;
        }

        // A return on the home thread hands this owner straight to the ring; elsewhere it travels home with the slot.
        Magazine home = lease.Slot!.Home;
        if (BufferLease<T>.TryReturnFast(lease.Slot, lease.Rental))
        {
            home.Owners?.Put(this);
        }
        else if (!lease.Slot.Return(lease.Generation, lease.Length, this))
        {
            lease.Slot.OnRetired(MisuseKind.StaleDispose);
        }
    }

    /// <summary>
    /// Begins another rental. Reusing an owner mostly means the same slot again: comparing is cheaper than the write barrier.
    /// </summary>
    internal void Bind(BufferSlot<T> slot, ulong rental)
    {
        if (_slot != slot)
        {
            _slot = slot;
        }

        _rental = rental;
    }
}
