namespace Tidepool;

/// <summary>
/// What the keys of a keyed pool share: one gate, one timer, one limit, one order of arrival. Everything under the gate unless it says
/// otherwise.
/// </summary>
internal sealed class ResourceGroup<T>
    where T : class
{
    /// <summary>How often a key that waits for a place lets others use theirs again. More saves creations, fewer saves waiting.</summary>
    private const int MostPassedOver = 16;

    private readonly List<PoolState<T>> _pools = [];
    private readonly List<PoolState<T>> _blocked = [];
    private readonly Action<ResourceCore<T>> _onRemoved;
    private readonly bool _steals;
    private readonly List<PoolState<T>> _open = []; // the keys whose hot slots are open
    private IntrusiveList<ResourceSlot<T>, SharedSlotLinks<T>> _idle;
    private IntrusiveList<ResourceSlot<T>, SharedSlotLinks<T>> _backlog;
    private IntrusiveList<ResourceSlot<T>, SharedSlotLinks<T>> _destroyQueue;
    private int _parked;

    internal ResourceGroup(PoolName name, int maxTotal, bool steals, TimeProvider provider, Action<ResourceCore<T>> onRemoved)
    {
        PoolName = name;
        MaxTotal = maxTotal;
        _steals = steals;
        _onRemoved = onRemoved;
        Gate = new PoolGate<T>(provider, this, static group => ((ResourceGroup<T>)group).OnTimer());
    }

    internal PoolGate<T> Gate { get; }

    internal PoolName PoolName { get; }

    /// <summary>What the keys are called in metrics and spans.</summary>
    internal KeyLabels Labels { get; } = new();

    internal int MaxTotal { get; }

    /// <summary>Places taken, over all keys.</summary>
    internal int Used { get; set; }

    /// <summary>The number of the last arrival.</summary>
    internal long Sequence { get; set; }

    internal IReadOnlyList<PoolState<T>> Pools => _pools;

    /// <summary>Whether a thread has ever parked for a rental. Set without the gate.</summary>
    internal volatile bool HasParked;

    /// <summary>The shutdown has begun: keys are closed one after the other, and invariants over all keys do not hold meanwhile.</summary>
    internal bool IsClosing { get; set; }

    internal void Add(PoolState<T> pool)
    {
        Gate.AssertHeld();
        pool.GroupIndex = _pools.Count;
        _pools.Add(pool);
    }

    /// <summary>Removes a key's pool; the keyed pool is notified after the gate was left.</summary>
    internal void Remove(PoolState<T> pool, PoolSection<T> section)
    {
        PoolState<T> last = _pools[^1];
        last.GroupIndex = pool.GroupIndex;
        _pools[pool.GroupIndex] = last;
        _pools.RemoveAt(_pools.Count - 1);
        pool.GroupIndex = -1;
        pool.CloseHot(section);
        Unblock(pool);
        section.Then(() => _onRemoved(pool.Core));
    }

    /// <summary>Lists an idle resource as the newest; one from a hot slot counts from when it was put there.</summary>
    internal void AddIdle(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
        ResourceSlot<T>? older = _idle.Newest;
        while (older is not null && older.KeptAlive > slot.KeptAlive)
        {
            older = older.SharedLinks.Older;
        }

        _idle.AddAfter(older, slot);
    }

    /// <summary>The list of slots over all keys whose work no thread has begun: those to be destroyed, or all others.</summary>
    internal ref IntrusiveList<ResourceSlot<T>, SharedSlotLinks<T>> Unbegun(ResourceSlot<T> slot) =>
        ref slot.State == SlotState.Destroying ? ref _destroyQueue : ref _backlog;

    /// <summary>A rental begins to wait, or ceases to.</summary>
    internal void CountParked(Waiter<T> waiter, int change)
    {
        Gate.AssertHeld();
        _parked += waiter.IsSync ? change : 0;
    }

    /// <summary>A key asks whether its hot slot may be open: while a key waits for a place, what is idle must be seen.</summary>
    internal bool TryOpen(PoolState<T> pool)
    {
        Gate.AssertHeld();
        if ((_steals && _blocked.Count > 0) || pool.GroupIndex < 0)
        {
            return false;
        }

        pool.OpenIndex = _open.Count;
        _open.Add(pool);
        return true;
    }

    /// <summary>A key has closed its hot slot, or it was not open.</summary>
    internal void NoteClosed(PoolState<T> pool)
    {
        Gate.AssertHeld();
        if (pool.OpenIndex >= 0)
        {
            _open[^1].OpenIndex = pool.OpenIndex;
            _open[pool.OpenIndex] = _open[^1];
            _open.RemoveAt(_open.Count - 1);
            pool.OpenIndex = -1;
        }
    }

    /// <summary>Closes every hot slot, so that all idle resources are seen. Each opens again with a return of its key.</summary>
    internal void CloseHots(PoolSection<T> section)
    {
        // In the order of their opening, as far as it is known: of resources that were returned in one millisecond it is the order of use.
        for (int i = 0; i < _open.Count; i++)
        {
            _open[i].OpenIndex = -1;
            _open[i].CloseHot(section);
        }

        _open.Clear();
    }

    /// <summary>Adds up over the keys of each label, where what is in hot slots counts as idle.</summary>
    internal Dictionary<string, int> Sum(Func<PoolState<T>, int> number, PoolSection<T> section)
    {
        for (int i = 0; i < _open.Count; i++)
        {
            _open[i].DrainHot(section);
        }

        Dictionary<string, int> sums = Labels.ToZeros();
        foreach (PoolState<T> pool in _pools)
        {
            sums[pool.Core.Series.Key!] += number(pool);
        }

        return sums;
    }

    internal void RemoveIdle(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
        _idle.Remove(slot);
    }

    /// <summary>A key wants a place.</summary>
    internal void Block(PoolState<T> pool)
    {
        Gate.AssertHeld();
        if (!pool.IsBlocked)
        {
            pool.IsBlocked = true;
            _blocked.Add(pool);
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
            PoolState<T> pool = FirstBlocked();
            if (!pool.WantsCreation(section))
            {
                Unblock(pool);
            }
            else if (Used < MaxTotal)
            {
                pool.BeginCreation(section);
                pool.LetParkedWork(section);
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
        foreach (PoolState<T> pool in _blocked)
        {
            while (pool.IsShort)
            {
                if (OldestOfOthers(pool, _idle.Oldest, static _ => true) is { } idle)
                {
                    pool.CountSteal(idle);
                    idle.Core.State.DestroyIdle(idle, DestroyReason.Stolen, section);
                }
                else if (FindUnneeded(pool) is { } unbegun)
                {
                    if (unbegun.State != SlotState.Creating)
                    {
                        pool.CountSteal(unbegun);
                    }

                    if (unbegun.Core.State.GiveUpUnbegun(unbegun, section))
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
    private ResourceSlot<T>? FindUnneeded(PoolState<T> pool) =>
        OldestOfOthers(pool, _backlog.Oldest, static slot => slot.Core.State.HasSurplus);

    /// <summary>The first slot from this one on that is not of this key, among those that will do.</summary>
    private static ResourceSlot<T>? OldestOfOthers(PoolState<T> pool, ResourceSlot<T>? slot, Func<ResourceSlot<T>, bool> willDo)
    {
        while (slot is not null && (slot.Core.State == pool || !willDo(slot)))
        {
            slot = slot.SharedLinks.Newer;
        }

        return slot;
    }

    /// <summary>
    /// Lets parked threads that wait for a place end what takes one, whatever its key: where all threads of the thread pool are parked,
    /// none comes for it.
    /// </summary>
    internal void LetParkedEnd(PoolSection<T> section)
    {
        if (_parked == 0 || _destroyQueue.Oldest is null)
        {
            return;
        }

        foreach (PoolState<T> pool in _blocked)
        {
            while (_destroyQueue.Oldest is { } ending && pool.TryLetParkedEnd(ending, section))
            {
            }
        }
    }

    /// <summary>
    /// Gives up the key that has been idle for longest and has nothing but idle resources, or else one whose creations have failed.
    /// </summary>
    internal bool TryGiveUpKey(PoolSection<T> section)
    {
        CloseHots(section);
        for (ResourceSlot<T>? slot = _idle.Oldest; slot is not null; slot = slot.SharedLinks.Newer)
        {
            if (slot.Core.State.IsOnlyIdle)
            {
                slot.Core.State.EndIdle(DestroyReason.Stolen, section); // and then it is forgotten
                LetParkedEnd(section);
                return true;
            }
        }

        if (_pools.Find(static c => c.HasOnlyFailed) is { } failed)
        {
            failed.Remove(section);
            Remove(failed, section);
            return true;
        }

        return false;
    }

    internal void Validate()
    {
        using PoolSection<T> section = Gate.Enter();
        Require(
            _idle.IsValid(static slot => slot.State == SlotState.Idle) && _idle.Count == _pools.Sum(static c => c.Places.Idle),
            "the common idle list is not that of the keys");
        Require(
            _backlog.IsValid(static s => s.State is SlotState.Creating or SlotState.Checking)
                && _backlog.Count == _pools.Sum(static c => c.Waits.Unbegun),
            "the common backlog is not that of the keys");
        Require(
            _destroyQueue.IsValid(static slot => slot.State == SlotState.Destroying)
                && _destroyQueue.Count == _pools.Sum(static c => c.Waits.ToDestroy),
            "the common list of what is to be destroyed is not that of the keys");
        Require(_parked == _pools.Sum(static c => c.Waits.Parked), "the parked threads are not those of the keys");
        Require(section.Waiting == _pools.Sum(static c => c.Waiting), "the timer keeps the keys alive for others than those that wait");
        Require(
            IsClosing || _destroyQueue.Oldest is null || !_blocked.Exists(static c => c.ParkedForNothing() is not null),
            "a parked thread waits for a place, and does not end what takes one");
        Require(
            IsClosing || !_steals || !_blocked.Exists(c => c.IsShort && FindUnneeded(c) is not null),
            "a key waits for a place, and another one keeps what it does not need");
        Require(Used == _pools.Sum(static c => c.Places.Used), "the places taken are not those of the keys");
        Require(
            Enumerable.Range(0, _open.Count).All(i => _open[i].OpenIndex == i && _open[i].Hot.IsOpen),
            "the list of open hot slots is broken");
        Require(_open.Count == _pools.Count(static c => c.Hot.IsOpen), "an open hot slot is not listed");
        Require(!_steals || _blocked.Count == 0 || _open.Count == 0, "a key waits for a place, and what is idle cannot be seen");
        Require(Used <= MaxTotal, $"{Used} places are taken of {MaxTotal}");
        Require(
            _pools.All(static c => !c.IsRemoved) && _blocked.All(static c => c.IsBlocked && !c.IsRemoved),
            "a forgotten key is still listed");
        foreach (PoolState<T> pool in _blocked)
        {
            Require(IsClosing || Used >= MaxTotal || !pool.WantsCreation(section), "a key waits although there is a place");
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
    /// would never free its places: so a key that has waited for longer has the place after a number of times.
    /// </summary>
    /// <returns>The key that has the place now, or null.</returns>
    internal PoolState<T>? FindPassedOver(Waiter<T> next)
    {
        Gate.AssertHeld();
        if (!_steals || _blocked.Count == 0 || Used < MaxTotal)
        {
            return null;
        }

        PoolState<T> pool = FirstBlocked();
        if (!pool.IsShort || pool.FirstWaiter!.Sequence >= next.Sequence || ++pool.PassedOver <= MostPassedOver)
        {
            return null;
        }

        pool.PassedOver = 0;
        return pool;
    }

    private PoolState<T> FirstBlocked() => _blocked.MinBy(static c => c.FirstWaiter?.Sequence ?? long.MaxValue)!;

    private void Unblock(PoolState<T> pool)
    {
        Gate.AssertHeld();
        if (pool.IsBlocked)
        {
            pool.IsBlocked = false;
            pool.PassedOver = 0;
            _blocked.Remove(pool);
        }
    }

    /// <summary>The timer of all keys has fired.</summary>
    /// <param name="isLate">It should have, and a parked thread has noticed.</param>
    internal void OnTimer(bool isLate = false)
    {
        using PoolSection<T> section = Gate.Enter("timer");
        isLate |= section.TimerFired();
        for (int i = _pools.Count - 1; i >= 0; i--)
        {
            _pools[i].DoHousekeeping(isLate, section);
        }
    }
}
