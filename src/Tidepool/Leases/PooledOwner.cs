using System.Buffers;

namespace Tidepool;

/// <summary>A lease as an <see cref="IMemoryOwner{T}"/>. Disposing it again does nothing; racing disposals return the buffer once.</summary>
internal sealed class PooledOwner<T> : IMemoryOwner<T>
{
    private readonly bool _reusable;
    private BufferLease<T> _lease;

    internal PooledOwner(BufferLease<T> lease, bool reusable)
    {
        _lease = lease;
        _reusable = reusable;
    }

    public Memory<T> Memory => _lease.Memory;

    public void Dispose()
    {
        BufferLease<T> lease = _lease;
        if (!_reusable)
        {
            lease.Dispose();
            return;
        }

        // A return on the home thread hands this owner straight to the ring; elsewhere it travels home with the slot.
        if (lease.TryReturnFast())
        {
            lease.Slot!.Home.Owners?.Put(this);
        }
        else if (!lease.TryReturn(this))
        {
            lease.Slot!.OnRetired(MisuseKind.StaleDispose);
        }
    }

    internal void Bind(BufferLease<T> lease) => _lease = lease;
}
