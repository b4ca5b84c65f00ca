using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>The slot of an <see cref="ObjectPool{T, TPolicy}"/>'s object: knows its pool's core.</summary>
internal sealed class PooledObject<T, TPolicy> : ObjectSlot<T>
    where T : class
    where TPolicy : struct, IObjectPolicy<T>
{
    /// <summary>The slot behind this one may be another thread's.</summary>
    internal readonly CacheLine Padding;

    private readonly ObjectCore<T, TPolicy> _core;

    internal PooledObject(ObjectCore<T, TPolicy> core)
    {
        _core = core;
        Padding = default;
    }

    internal RentalRecord? Record { get; set; }

    internal override bool TryReturn(int generation)
    {
        if (!TryEnd(generation))
        {
            return false;
        }

        // From here on the object is this thread's alone, until it lies in a tier.
        ObjectCore<T, TPolicy> core = _core;
        bool isFit;
        try
        {
            isFit = core.Policy.TryReset(Item);
        }
        catch
        {
            core.RefuseSlot(this);
            throw;
        }

        if (!isFit)
        {
            core.RefuseSlot(this);
        }
        else if (ThreadTier.Find(core.LeaseId) is not { } magazine || !magazine.TryPushLast(this, hasTicket: true))
        {
            core.KeepSlot(this);
        }

        return true;
    }

    internal override bool TryDetach(int generation)
    {
        bool isEnded = TryEnd(generation);
        if (isEnded)
        {
            _core.Detach(this);
        }

        return isEnded;
    }

    internal override void OnRetired(MisuseKind kind) => _core.OnRetired(this, kind);
}
