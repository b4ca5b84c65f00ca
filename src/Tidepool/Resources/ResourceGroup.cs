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
    private readonly GroupSlots<T> _idle = new();
    private readonly GroupSlots<T> _backlog = new();
    private readonly GroupSlots<T> _endings = new();
    private ResourceCore<T>? _firstOpen; // the keys whose hot places are open, in the order of their opening
    private ResourceCore<T>? _lastOpen;
    private int _parked;
    private volatile bool _hasParked;

    internal ResourceGroup(PoolName name, int maxTotal, bool steals, TimeProvider provider, Action<ResourceCore<T>> forget)
    {
        PoolName = name;
        MaxTotal = maxTotal;
        _steals = steals;
        _forget = forget;
        Gate = new PoolGate<T>(provider, this, static group => ((ResourceGroup<T>)group).OnTimer());
    }

    internal PoolGate<T> Gate { get; }

    internal PoolName PoolName { get; }

    internal int MaxTotal { get; }

    /// <summary>Places taken, over all keys.</summary>
    internal int Used { get; set; }

    /// <summary>The number of the last arrival.</summary>
    internal long Sequence { get; set; }

    internal IReadOnlyList<ResourceCore<T>> Cores => _cores;

    /// <summary>Whether a thread has ever parked for a rental. Set without the gate.</summary>
    internal bool HasParked
    {
        get => _hasParked;
        set => _hasParked = value;
    }

    /// <summary>The shutdown has begun: keys are closed one after the other, and places that come free are given to none of them.</summary>
    internal bool IsClosing { get; set; }

    internal void Add(ResourceCore<T> core)
    {
        Gate.AssertHeld();
        core.GroupIndex = _cores.Count;
        _cores.Add(core);
    }

    /// <summary>Takes a key's pool out; the keyed pool hears of it when the gate was left.</summary>
    internal void Forget(ResourceCore<T> core, PoolSection<T> section)
    {
        ResourceCore<T> last = _cores[^1];
        last.GroupIndex = core.GroupIndex;
        _cores[core.GroupIndex] = last;
        _cores.RemoveAt(_cores.Count - 1);
        core.GroupIndex = -1;
        core.CloseHot(section);
        Unblock(core);
        section.Then(() => _forget(core));
    }

    /// <summary>Lists an idle resource as the newest; one that lay in a hot place counts from when it was laid there.</summary>
    internal void AddIdle(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
        ResourceSlot<T>? older = _idle.Newest;
        while (older is not null && older.KeptAlive > slot.KeptAlive)
        {
            older = older.GroupOlder;
        }

        _idle.AddAfter(older, slot);
    }

    /// <summary>The list of slots over all keys whose work no thread has begun: those to be ended, or all others.</summary>
    internal GroupSlots<T> Unbegun(ResourceSlot<T> slot) => slot.State == SlotState.Destroying ? _endings : _backlog;

    /// <summary>A rental begins to wait, or ceases to.</summary>
    internal void CountParked(Waiter<T> waiter, int change) => _parked += waiter.IsSync ? change : 0;

    /// <summary>A key asks whether its hot place may be open: while a key waits for a place, what is idle must be seen.</summary>
    internal bool TryOpen(ResourceCore<T> core)
    {
        Gate.AssertHeld();
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
        Gate.AssertHeld();
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
    internal void CloseHots(PoolSection<T> section)
    {
        while (_firstOpen is { } core)
        {
            core.CloseHot(section);
        }
    }

    /// <summary>Resources that are idle, those in hot places included.</summary>
    internal int CountIdle(PoolSection<T> section)
    {
        DrainHots(section);
        return _cores.Sum(static c => c.Places.Idle);
    }

    /// <summary>Resources that are leased or being checked.</summary>
    internal int CountInUse(PoolSection<T> section)
    {
        DrainHots(section);
        return _cores.Sum(static c => c.InUse);
    }

    private void DrainHots(PoolSection<T> section)
    {
        for (ResourceCore<T>? core = _firstOpen; core is not null; core = core.NextOpen)
        {
            core.DrainHot(section);
        }
    }

    internal void RemoveIdle(ResourceSlot<T> slot) => _idle.Remove(slot);

    /// <summary>A key wants a place.</summary>
    internal void Block(ResourceCore<T> core)
    {
        Gate.AssertHeld();
        if (!core.IsBlocked)
        {
            core.IsBlocked = true;
            _blocked.Add(core);
        }
    }

    /// <summary>Gives free places to the keys that want one, by arrival of their first rentals; takes from others for the rest.</summary>
    internal void Offer(PoolSection<T> section)
    {
        do
        {
            GivePlaces(section);
        }
        while (_steals && _blocked.Count > 0 && TrySteal(section));
    }

    private void GivePlaces(PoolSection<T> section)
    {
        while (_blocked.Count > 0)
        {
            ResourceCore<T> core = FirstBlocked();
            if (!core.WantsCreation(section))
            {
                Unblock(core);
            }
            else if (Used < MaxTotal)
            {
                core.BeginCreation(section);
                core.LetParkedWork(section);
            }
            else
            {
                break;
            }
        }
    }

    /// <summary>Ends resources of other keys for those that are short of a place: idle ones, then unneeded ones.</summary>
    /// <returns>Whether a place came free at once.</returns>
    private bool TrySteal(PoolSection<T> section)
    {
        CloseHots(section);
        foreach (ResourceCore<T> core in _blocked)
        {
            while (core.IsShort)
            {
                if (_idle.OldestOfOthers(core, static _ => true) is { } idle)
                {
                    core.CountSteal(idle);
                    idle.Core.Yield(idle, DestroyReason.Stolen, section);
                }
                else if (FindUnneeded(core) is { } unbegun)
                {
                    if (unbegun.State != SlotState.Creating)
                    {
                        core.CountSteal(unbegun);
                    }

                    if (unbegun.Core.YieldUnbegun(unbegun, section))
                    {
                        return true;
                    }
                }
                else
                {
                    break;
                }
            }
        }

        return false;
    }

    /// <summary>Finds what no thread has begun and no rental of its key waits for.</summary>
    private ResourceSlot<T>? FindUnneeded(ResourceCore<T> core) => _backlog.OldestOfOthers(core, static slot => slot.Core.HasSurplus);

    /// <summary>
    /// Lets parked threads that wait for a place end what takes one, whatever its key: where all threads of the thread pool are parked,
    /// none comes for it.
    /// </summary>
    internal void LetParkedEnd(PoolSection<T> section)
    {
        if (_parked == 0 || _endings.Oldest is null)
        {
            return;
        }

        foreach (ResourceCore<T> core in _blocked)
        {
            while (_endings.Oldest is { } ending && core.TryLetParkedEnd(ending, section))
            {
            }
        }
    }

    /// <summary>Gives up the key that has been idle for longest and has nothing but idle resources, or else one that only waits after a failure.</summary>
    internal bool TryGiveUpKey(PoolSection<T> section)
    {
        CloseHots(section);
        for (ResourceSlot<T>? slot = _idle.Oldest; slot is not null; slot = slot.GroupNewer)
        {
            if (slot.Core.IsOnlyIdle)
            {
                slot.Core.GiveUp(section);
                LetParkedEnd(section);
                return true;
            }
        }

        long now = section.Now;
        if (_cores.Find(c => c.IsOnlyBackingOff(now)) is { } failed)
        {
            failed.Remove();
            Forget(failed, section);
            return true;
        }

        return false;
    }

    internal void Validate()
    {
        using PoolSection<T> section = Gate.Enter();
        Require(
            _idle.Count(static slot => slot.State == SlotState.Idle) == _cores.Sum(static c => c.Places.Idle),
            "the common idle list is not that of the keys");
        Require(
            _backlog.Count(static s => s.State is SlotState.Creating or SlotState.Checking) == _cores.Sum(static c => c.Waits.Unbegun),
            "the common backlog is not that of the keys");
        Require(
            _endings.Count(static slot => slot.State == SlotState.Destroying) == _cores.Sum(static c => c.Waits.Endings),
            "the common list of what is to be ended is not that of the keys");
        Require(_parked == _cores.Sum(static c => c.Waits.Parked), "the parked threads are not those of the keys");
        Require(
            IsClosing || _endings.Oldest is null || !_blocked.Exists(static c => c.HasParkedForNothing),
            "a parked thread waits for a place, and does not end what takes one");
        Require(
            IsClosing || !_steals || !_blocked.Exists(c => c.IsShort && FindUnneeded(c) is not null),
            "a key waits for a place, and another one keeps what it does not need");
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
        foreach (ResourceCore<T> core in _blocked)
        {
            Require(IsClosing || Used >= MaxTotal || !core.WantsCreation(section), "a key waits although there is a place");
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
        Gate.AssertHeld();
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

    private void Unblock(ResourceCore<T> core)
    {
        Gate.AssertHeld();
        if (core.IsBlocked)
        {
            core.IsBlocked = false;
            core.PassedOver = 0;
            _blocked.Remove(core);
        }
    }

    /// <summary>The timer of all keys has fired.</summary>
    /// <param name="isLate">It should have, and a parked thread has noticed.</param>
    internal void OnTimer(bool isLate = false)
    {
        using PoolSection<T> section = Gate.Enter("timer");
        isLate |= Gate.Timer.Fired(section.Now);
        for (int i = _cores.Count - 1; i >= 0; i--)
        {
            _cores[i].Upkeep(isLate, section);
        }

        section.SetTimer();
    }
}
