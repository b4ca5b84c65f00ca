namespace Tidepool;

/// <summary>What the keys of a keyed pool share: one gate, one timer, one limit, one order of arrival. Everything under the gate unless it says otherwise.</summary>
internal sealed class ResourceGroup<T>
    where T : class
{
    /// <summary>How often a key that waits for a place lets others use theirs again. More saves creations, fewer saves waiting.</summary>
    private const int MostPassedOver = 16;

    private readonly List<ResourceCore<T>> _cores = [];
    private readonly List<ResourceCore<T>> _blocked = [];
    private readonly Action<ResourceCore<T>> _forget;
    private readonly bool _steals;
    private ResourceCore<T>? _firstOpen; // the keys whose hot places are open, in the order of their opening
    private ResourceCore<T>? _lastOpen;
    private ResourceSlot<T>? _newest;
    private ResourceSlot<T>? _oldest;

    internal ResourceGroup(PoolName name, int maxTotal, bool steals, TimeProvider provider, Action<ResourceCore<T>> forget)
    {
        PoolName = name;
        MaxTotal = maxTotal;
        _steals = steals;
        _forget = forget;
        Clock = new ResourceClock(provider);
        Timer = new PoolTimer(Clock, this, static group => ((ResourceGroup<T>)group).OnTimer());
    }

    internal Lock Gate { get; } = new();

    internal PoolName PoolName { get; }

    internal ResourceClock Clock { get; }

    internal PoolTimer Timer { get; }

    internal int MaxTotal { get; }

    /// <summary>Places taken, over all keys.</summary>
    internal int Used { get; set; }

    /// <summary>The number of the last arrival.</summary>
    internal long Sequence { get; set; }

    internal IReadOnlyList<ResourceCore<T>> Cores => _cores;

    /// <summary>The shutdown has begun: keys are closed one after the other, and places that come free are given to none of them.</summary>
    internal bool IsClosing { get; set; }

    internal void Add(ResourceCore<T> core)
    {
        core.GroupIndex = _cores.Count;
        _cores.Add(core);
    }

    /// <summary>Takes a key's pool out; the keyed pool hears of it when the gate was left.</summary>
    internal void Forget(ResourceCore<T> core, long now, ref Deferred<T> work)
    {
        ResourceCore<T> last = _cores[^1];
        last.GroupIndex = core.GroupIndex;
        _cores[core.GroupIndex] = last;
        _cores.RemoveAt(_cores.Count - 1);
        core.GroupIndex = -1;
        core.CloseHot(now, ref work);
        Unblock(core);
        work.Then(() => _forget(core));
    }

    /// <summary>Lists an idle resource as the newest; one that lay in a hot place counts from when it was laid there.</summary>
    internal void AddIdle(ResourceSlot<T> slot)
    {
        ResourceSlot<T>? older = _newest;
        while (older is not null && older.KeptAlive > slot.KeptAlive)
        {
            older = older.GroupOlder;
        }

        ResourceSlot<T>? newer = older is null ? _oldest : older.GroupNewer;
        (slot.GroupOlder, slot.GroupNewer) = (older, newer);
        if (older is not null)
        {
            older.GroupNewer = slot;
        }
        else
        {
            _oldest = slot;
        }

        if (newer is not null)
        {
            newer.GroupOlder = slot;
        }
        else
        {
            _newest = slot;
        }
    }

    /// <summary>A key asks whether its hot place may be open: while a key waits for a place, what is idle must be seen.</summary>
    internal bool TryOpen(ResourceCore<T> core)
    {
        if ((_steals && _blocked.Count > 0) || core.GroupIndex < 0)
        {
            return false;
        }

        core.PreviousOpen = _lastOpen;
        if (_lastOpen is not null)
        {
            _lastOpen.NextOpen = core;
        }
        else
        {
            _firstOpen = core;
        }

        _lastOpen = core;
        return true;
    }

    /// <summary>A key has closed its hot place, or it was not open.</summary>
    internal void NoteClosed(ResourceCore<T> core)
    {
        if (core.PreviousOpen is { } previous)
        {
            previous.NextOpen = core.NextOpen;
        }
        else if (_firstOpen == core)
        {
            _firstOpen = core.NextOpen;
        }

        if (core.NextOpen is { } next)
        {
            next.PreviousOpen = core.PreviousOpen;
        }
        else if (_lastOpen == core)
        {
            _lastOpen = core.PreviousOpen;
        }

        core.NextOpen = core.PreviousOpen = null;
    }

    /// <summary>Closes every hot place, so that all idle resources are seen. Each opens again with a return of its key.</summary>
    internal void CloseHots(long now, ref Deferred<T> work)
    {
        while (_firstOpen is { } core)
        {
            core.CloseHot(now, ref work);
        }
    }

    /// <summary>Resources that are idle, those in hot places included.</summary>
    internal int CountIdle(ref Deferred<T> work)
    {
        DrainHots(ref work);
        return _cores.Sum(static c => c.Places.Idle);
    }

    /// <summary>Resources that are leased or being checked.</summary>
    internal int CountInUse(ref Deferred<T> work)
    {
        DrainHots(ref work);
        return _cores.Sum(static c => c.InUse);
    }

    private void DrainHots(ref Deferred<T> work)
    {
        long now = Clock.Now;
        for (ResourceCore<T>? core = _firstOpen; core is not null; core = core.NextOpen)
        {
            core.DrainHot(now, ref work);
        }
    }

    internal void RemoveIdle(ResourceSlot<T> slot)
    {
        if (slot.GroupNewer is { } newer)
        {
            newer.GroupOlder = slot.GroupOlder;
        }
        else
        {
            _newest = slot.GroupOlder;
        }

        if (slot.GroupOlder is { } older)
        {
            older.GroupNewer = slot.GroupNewer;
        }
        else
        {
            _oldest = slot.GroupNewer;
        }

        slot.GroupNewer = slot.GroupOlder = null;
    }

    /// <summary>A key wants a place.</summary>
    internal void Block(ResourceCore<T> core)
    {
        if (!core.IsBlocked)
        {
            core.IsBlocked = true;
            _blocked.Add(core);
        }
    }

    /// <summary>Gives free places to the keys that want one, in the order in which their first rentals arrived; ends idle resources of others for the rest.</summary>
    internal void Offer(long now, ref Deferred<T> work)
    {
        while (_blocked.Count > 0)
        {
            ResourceCore<T> core = FirstBlocked();
            if (!core.WantsCreation(now, ref work))
            {
                Unblock(core);
            }
            else if (Used < MaxTotal)
            {
                core.BeginCreation(now, ref work);
            }
            else
            {
                break;
            }
        }

        if (_steals && _blocked.Count > 0)
        {
            CloseHots(now, ref work);
            foreach (ResourceCore<T> core in _blocked)
            {
                while (core.IsShort && OldestOfOthers(core) is { } slot)
                {
                    core.CountSteal(slot);
                    slot.Core.Yield(slot, DestroyReason.Stolen, now, ref work);
                }
            }
        }
    }

    /// <summary>Gives up the key that has been idle for longest and has nothing but idle resources, or else one that only waits after a failure.</summary>
    internal bool TryGiveUpKey(long now, ref Deferred<T> work)
    {
        CloseHots(now, ref work);
        for (ResourceSlot<T>? slot = _oldest; slot is not null; slot = slot.GroupNewer)
        {
            if (slot.Core.IsOnlyIdle)
            {
                slot.Core.GiveUp(now, ref work);
                return true;
            }
        }

        if (_cores.Find(c => c.IsOnlyBackingOff(now)) is { } failed)
        {
            failed.Remove();
            Forget(failed, now, ref work);
            return true;
        }

        return false;
    }

    internal void Validate()
    {
        lock (Gate)
        {
            int idle = 0;
            for (ResourceSlot<T>? slot = _newest; slot is not null; slot = slot.GroupOlder)
            {
                idle++;
                Require(slot.State == SlotState.Idle && (slot.GroupOlder is { } older ? older.GroupNewer == slot : slot == _oldest), "the common idle list is broken");
            }

            Require(idle == _cores.Sum(static c => c.Places.Idle), "the common idle list is not that of the keys");
            Require(Used == _cores.Sum(static c => c.Places.Used), "the places taken are not those of the keys");
            int open = 0;
            for (ResourceCore<T>? core = _firstOpen; core is not null; core = core.NextOpen)
            {
                open++;
                Require(core.IsHotOpen && (core.NextOpen is not { } next || next.PreviousOpen == core), "the list of open hot places is broken");
            }

            Require(open == _cores.Count(static c => c.IsHotOpen), "an open hot place is not listed");
            Require(!_steals || _blocked.Count == 0 || open == 0, "a key waits for a place, and what is idle cannot be seen");
            Require(Used <= MaxTotal, $"{Used} places are taken of {MaxTotal}");
            Require(_cores.All(static c => !c.IsRemoved) && _blocked.All(static c => c.IsBlocked && !c.IsRemoved), "a forgotten key is still listed");
            Deferred<T> ignored = default;
            Require(IsClosing || !(Used < MaxTotal && _blocked.Exists(c => c.WantsCreation(Clock.Now, ref ignored))), "a key waits although there is a place");
        }
    }

    private static void Require(bool holds, string fault)
    {
        if (!holds)
        {
            throw new InvalidOperationException($"Keyed pool: {fault}.");
        }
    }

    /// <summary>
    /// A returned resource is about to serve the next rental of its own key. That spares a creation, but a key that is always waited for
    /// would never let go of its places: so a key that has waited for longer has the place after a number of times.
    /// </summary>
    /// <returns>The key that has the place now, or null.</returns>
    internal ResourceCore<T>? FindPassedOver(Waiter<T> next)
    {
        if (!_steals || _blocked.Count == 0 || Used < MaxTotal)
        {
            return null;
        }

        ResourceCore<T> core = FirstBlocked();
        if (!core.IsShort || core.FirstWaiter!.Sequence >= next.Sequence || ++core.PassedOver <= MostPassedOver)
        {
            return null;
        }

        core.PassedOver = 0;
        return core;
    }

    private ResourceCore<T> FirstBlocked() => _blocked.MinBy(static c => c.FirstWaiter?.Sequence ?? long.MaxValue)!;

    private ResourceSlot<T>? OldestOfOthers(ResourceCore<T> core)
    {
        ResourceSlot<T>? slot = _oldest;
        while (slot is not null && slot.Core == core)
        {
            slot = slot.GroupNewer;
        }

        return slot;
    }

    private void Unblock(ResourceCore<T> core)
    {
        if (core.IsBlocked)
        {
            core.IsBlocked = false;
            core.PassedOver = 0;
            _blocked.Remove(core);
        }
    }

    private void OnTimer()
    {
        Deferred<T> work = default;
        long now = Clock.Now;
        Schedule.Point("timer");
        lock (Gate)
        {
            bool isLate = Timer.Fired(now);
            for (int i = _cores.Count - 1; i >= 0; i--)
            {
                _cores[i].Upkeep(now, isLate, ref work);
            }

            work.SetsTimer = true;
        }

        work.Run(Timer);
    }
}
