using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// Work that no thread has begun yet. It is for the thread pool; but where all of its threads are parked for this very pool, none would
/// come: so a parked rental for which nothing has begun does it itself. docs/design/resources.md has the table of who may do what. Under
/// the gate.
/// </summary>
internal sealed class Backlog<T>(ResourceGroup<T>? group)
    where T : class
{
    /// <summary>Creations and checks: each serves a caller when it is done.</summary>
    private IntrusiveList<ResourceSlot<T>, SlotLinks<T>> _serving;

    /// <summary>Resources to be destroyed: each gives a place free.</summary>
    private IntrusiveList<ResourceSlot<T>, SlotLinks<T>> _destroyQueue;

    /// <summary>Threads that were asked for and have not come; never fewer than there is work.</summary>
    private int _threadsRequested;

    internal int Serving => _serving.Count;

    internal int ToDestroy => _destroyQueue.Count;

    internal ResourceSlot<T>? OldestServing => _serving.Oldest;

    internal ResourceSlot<T>? OldestToDestroy => _destroyQueue.Oldest;

    /// <summary>Adds the work of a slot.</summary>
    /// <returns>Whether one more thread is to be asked for.</returns>
    internal bool Add(ResourceSlot<T> slot)
    {
        slot.IsUnbegun = true;
        Of(slot).Add(slot);
        group?.Unbegun(slot).Add(slot);
        bool isShort = _threadsRequested < _serving.Count + _destroyQueue.Count;
        _threadsRequested += isShort ? 1 : 0;
        return isShort;
    }

    /// <summary>A thread begins with a slot's work. Before the slot changes its state, which tells the list.</summary>
    internal void Take(ResourceSlot<T> slot)
    {
        Debug.Assert(slot.IsUnbegun && Of(slot).Contains(slot), "work is taken from the list that it waits in");
        slot.IsUnbegun = false;
        Of(slot).Remove(slot);
        group?.Unbegun(slot).Remove(slot);
    }

    /// <summary>
    /// Gives a thread that has come what is oldest, what is to be destroyed first; nothing where that was done meanwhile.
    /// </summary>
    internal ResourceSlot<T>? TakeForThread()
    {
        _threadsRequested--;
        ResourceSlot<T>? slot = _destroyQueue.Oldest ?? _serving.Oldest;
        if (slot is not null)
        {
            Take(slot);
        }

        return slot;
    }

    /// <summary>Finds what was asked for first of that which a parked thread can do.</summary>
    internal ResourceSlot<T>? FirstForParked(bool createsHere)
    {
        ResourceSlot<T>? slot = _serving.Oldest;
        while (slot is not null && (slot.State == SlotState.Creating ? !createsHere : slot.IsForPool))
        {
            slot = slot.Links.Newer;
        }

        return slot;
    }

    internal string? FindFault() =>
        !_serving.IsValid(static slot => slot.IsUnbegun && !slot.IsByRenter && slot.State is SlotState.Creating or SlotState.Checking)
            || !_destroyQueue.IsValid(static slot => slot.IsUnbegun && slot.State == SlotState.Destroying) ? "the backlog is broken"
        : _threadsRequested < _serving.Count + _destroyQueue.Count ? "work waits for which no thread was asked"
        : null;

    private ref IntrusiveList<ResourceSlot<T>, SlotLinks<T>> Of(ResourceSlot<T> slot) =>
        ref slot.State == SlotState.Destroying ? ref _destroyQueue : ref _serving;
}
