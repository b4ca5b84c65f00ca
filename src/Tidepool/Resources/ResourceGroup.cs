namespace Tidepool;

/// <summary>What the keys of a keyed pool share: one gate, one timer, one limit, one order of arrival. Everything under the gate unless it says otherwise.</summary>
internal sealed class ResourceGroup<T>
    where T : class
{
    private readonly List<ResourceCore<T>> _cores = [];
    private readonly List<ResourceCore<T>> _blocked = [];
    private readonly Action<ResourceCore<T>> _forget;
    private readonly bool _steals;
    private ResourceSlot<T>? _newest;
    private ResourceSlot<T>? _oldest;

    internal ResourceGroup(int maxTotal, bool steals, TimeProvider provider, Action<ResourceCore<T>> forget)
    {
        MaxTotal = maxTotal;
        _steals = steals;
        _forget = forget;
        Clock = new ResourceClock(provider);
        Timer = new PoolTimer(Clock, this, static group => ((ResourceGroup<T>)group).OnTimer());
    }

    internal Lock Gate { get; } = new();

    internal ResourceClock Clock { get; }

    internal PoolTimer Timer { get; }

    internal int MaxTotal { get; }

    /// <summary>Places taken, over all keys.</summary>
    internal int Used { get; set; }

    /// <summary>The number of the last arrival.</summary>
    internal long Sequence { get; set; }

    internal IReadOnlyList<ResourceCore<T>> Cores => _cores;

    internal void Add(ResourceCore<T> core)
    {
        core.GroupIndex = _cores.Count;
        _cores.Add(core);
    }

    /// <summary>Takes a key's pool out; the keyed pool hears of it when the gate was left.</summary>
    internal void Forget(ResourceCore<T> core, ref Deferred<T> work)
    {
        ResourceCore<T> last = _cores[^1];
        last.GroupIndex = core.GroupIndex;
        _cores[core.GroupIndex] = last;
        _cores.RemoveAt(_cores.Count - 1);
        core.GroupIndex = -1;
        Unblock(core);
        work.Then(() => _forget(core));
    }

    internal void AddIdle(ResourceSlot<T> slot)
    {
        slot.GroupNewer = null;
        slot.GroupOlder = _newest;
        if (_newest is not null)
        {
            _newest.GroupNewer = slot;
        }
        else
        {
            _oldest = slot;
        }

        _newest = slot;
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
            ResourceCore<T> core = _blocked.MinBy(static c => c.FirstWaiter?.Sequence ?? long.MaxValue)!;
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

        if (_steals && _oldest is not null)
        {
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

    /// <summary>Gives up the key that has been idle for longest and has nothing but idle resources.</summary>
    internal bool TryGiveUpKey(long now, ref Deferred<T> work)
    {
        for (ResourceSlot<T>? slot = _oldest; slot is not null; slot = slot.GroupNewer)
        {
            if (slot.Core.IsOnlyIdle)
            {
                slot.Core.GiveUp(now, ref work);
                return true;
            }
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
            Require(Used <= MaxTotal, $"{Used} places are taken of {MaxTotal}");
            Require(_cores.All(static c => !c.IsRemoved) && _blocked.All(static c => c.IsBlocked && !c.IsRemoved), "a forgotten key is still listed");
            Deferred<T> ignored = default;
            Require(!(Used < MaxTotal && _blocked.Exists(c => c.WantsCreation(Clock.Now, ref ignored))), "a key waits although there is a place");
        }
    }

    private static void Require(bool holds, string fault)
    {
        if (!holds)
        {
            throw new InvalidOperationException($"Keyed pool: {fault}.");
        }
    }

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
            Timer.Fired();
            for (int i = _cores.Count - 1; i >= 0; i--)
            {
                _cores[i].Upkeep(now, ref work);
            }

            work.SetsTimer = true;
        }

        work.Run(Timer);
    }
}
