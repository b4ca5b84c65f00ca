using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The hot place: the resource that was returned last lies here while nobody waits, and is rented without the gate. Under the gate it counts as
/// leased, until a section that needs all resources drains it. Whoever begins to wait closes it first and drains it then; whoever returns
/// lays its resource there first and looks then whether it is still open. So one of the two sees the other.
/// </summary>
internal sealed partial class ResourceCore<T>
{
    private readonly bool _hasHot;
    private ResourceSlot<T>? _hot;
    private volatile bool _isHotOpen;

    /// <summary>The next one of the group's keys whose place is open, and the one before it.</summary>
    internal ResourceCore<T>? NextOpen { get; set; }

    internal ResourceCore<T>? PreviousOpen { get; set; }

    internal bool IsHotOpen => _isHotOpen;

    /// <summary>A resource lies in the closed place; right only for a moment, while its returner has not looked yet.</summary>
    internal bool IsHotStranded => !_isHotOpen && _hot is not null;

    /// <summary>Leases the hot resource to the caller; its ticket is the slot's version.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ResourceSlot<T>? TakeHot()
    {
        Schedule.Point("hot: look");
        return _isHotOpen && _hot is not null ? TakeOpenHot() : null;
    }

    private ResourceSlot<T>? TakeOpenHot()
    {
        long now = Now;
        Schedule.Point("hot: take");
        ResourceSlot<T>? slot = Interlocked.Exchange(ref _hot, null);
        if (slot is null)
        {
            return null;
        }

        if (now - slot.LastUsed >= _freshFor || now >= slot.ExpiresAt || slot.Generation != Volatile.Read(ref _generation))
        {
            LayIdle(slot);
            return null;
        }

        slot.Uses++;
        slot.HotUses++;
        slot.LeasedAt = now;
        if (_meter.MeasuresUse)
        {
            slot.RentedTicks = Stopwatch.GetTimestamp();
        }

        long ticket = slot.Version + 1;
        Volatile.Write(ref slot.Version, ticket);
        if (_looksForBroken && IsBroken(slot.Resource!))
        {
            slot.HotUses--;
            slot.TryRetire(ticket);
            SettleSlow(slot, DestroyReason.Broken, now);
            return null;
        }

        return slot;
    }

    /// <summary>The usual end of a return.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryLayHot(ResourceSlot<T> slot, long now)
    {
        if (!_isHotOpen
            || slot.Generation != Volatile.Read(ref _generation)
            || now >= slot.ExpiresAt
            || Math.Min(slot.ExpiresAt, now + _soonestIdleDue) < Timer.Due)
        {
            return false;
        }

        slot.LastUsed = now; // the other times follow when it leaves the place for the idle list
        Schedule.Point("hot: lay");
        ResourceSlot<T>? older = Interlocked.Exchange(ref _hot, slot);
        Schedule.Point("hot: laid");
        if (older is not null || !_isHotOpen)
        {
            LaidHot(older);
        }

        return true;
    }

    /// <summary>What lay there before goes to the others, and so does what was laid after somebody had begun to wait.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LaidHot(ResourceSlot<T>? older)
    {
        if (older is not null)
        {
            LayIdle(older);
        }

        if (!_isHotOpen && Interlocked.Exchange(ref _hot, null) is { } late)
        {
            LayIdle(late);
        }
    }

    /// <summary>Gives a resource that lay in the hot place to whoever waits, or to the idle list.</summary>
    private void LayIdle(ResourceSlot<T> slot)
    {
        using PoolSection<T> section = Gate.Enter("hot: displaced");
        SupplyHot(slot, section);
        Pump(section);
    }

    /// <summary>Opens the place where it may be: nobody waits, and no other key needs to see what is idle here. Under the gate.</summary>
    private void OpenHot()
    {
        Gate.AssertHeld();
        if (_hasHot && !_isClosed && !_isHotOpen && _waiters.Count == 0 && _group?.TryOpen(this) != false)
        {
            _isHotOpen = true;
        }
    }

    /// <summary>Somebody waits, or the pool ends: no resource may lie where it is rented without the gate. Under the gate.</summary>
    internal void CloseHot(PoolSection<T> section)
    {
        _isHotOpen = false;
        _group?.NoteClosed(this);
        DrainHot(section);
    }

    /// <summary>
    /// Moves the hot resource to the idle list, so that a section that pumps at its end sees all of them. Under the gate.
    /// </summary>
    /// <returns>Whether there was one.</returns>
    internal bool DrainHot(PoolSection<T> section)
    {
        if (Interlocked.Exchange(ref _hot, null) is not { } slot)
        {
            return false;
        }

        SupplyHot(slot, section);
        return true;
    }

    /// <summary>
    /// The same for a section that only looks. Its returner, which has not looked yet whether somebody waits, will find nothing left to do, so what
    /// follows is done here: a resource that was cleared meanwhile may be for a parked thread to end. Under the gate.
    /// </summary>
    private void SettleHot(PoolSection<T> section)
    {
        if (DrainHot(section))
        {
            Pump(section);
        }
    }

    private void SupplyHot(ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.CheckedAt = slot.KeptAlive = slot.LastUsed;
        Supply(slot, section);
    }
}
