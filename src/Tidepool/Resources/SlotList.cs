namespace Tidepool;

/// <summary>Slots of one pool in the order in which they came: those that are idle, or those whose work has not begun. Under the pool's gate.</summary>
internal sealed class SlotList<T>
    where T : class
{
    internal int Count { get; private set; }

    internal ResourceSlot<T>? Newest { get; private set; }

    internal ResourceSlot<T>? Oldest { get; private set; }

    internal void Add(ResourceSlot<T> slot)
    {
        slot.Newer = null;
        slot.Older = Newest;
        if (Newest is { } newest)
        {
            newest.Newer = slot;
        }
        else
        {
            Oldest = slot;
        }

        Newest = slot;
        Count++;
    }

    internal void Remove(ResourceSlot<T> slot)
    {
        if (slot.Newer is { } newer)
        {
            newer.Older = slot.Older;
        }
        else
        {
            Newest = slot.Older;
        }

        if (slot.Older is { } older)
        {
            older.Newer = slot.Newer;
        }
        else
        {
            Oldest = slot.Newer;
        }

        slot.Newer = slot.Older = null;
        Count--;
    }

    /// <summary>Whether the links agree, and each slot is one that belongs here.</summary>
    internal bool IsValid(Func<ResourceSlot<T>, bool> belongs)
    {
        int count = 0;
        for (ResourceSlot<T>? slot = Newest; slot is not null; slot = slot.Older)
        {
            if (!belongs(slot) || (slot.Older is { } older ? older.Newer != slot : slot != Oldest))
            {
                return false;
            }

            count++;
        }

        return count == Count;
    }
}

/// <summary>A list of slots over all keys of a keyed pool: the idle ones, or those whose work has not begun. Under the gate.</summary>
internal sealed class GroupSlots<T>
    where T : class
{
    internal ResourceSlot<T>? Newest { get; private set; }

    internal ResourceSlot<T>? Oldest { get; private set; }

    internal void Add(ResourceSlot<T> slot) => AddAfter(Newest, slot);

    /// <summary>Puts a slot behind another one, or before all where that is null.</summary>
    internal void AddAfter(ResourceSlot<T>? older, ResourceSlot<T> slot)
    {
        ResourceSlot<T>? newer = older is null ? Oldest : older.GroupNewer;
        (slot.GroupOlder, slot.GroupNewer) = (older, newer);
        if (older is not null)
        {
            older.GroupNewer = slot;
        }
        else
        {
            Oldest = slot;
        }

        if (newer is not null)
        {
            newer.GroupOlder = slot;
        }
        else
        {
            Newest = slot;
        }
    }

    internal void Remove(ResourceSlot<T> slot)
    {
        if (slot.GroupNewer is { } newer)
        {
            newer.GroupOlder = slot.GroupOlder;
        }
        else
        {
            Newest = slot.GroupOlder;
        }

        if (slot.GroupOlder is { } older)
        {
            older.GroupNewer = slot.GroupNewer;
        }
        else
        {
            Oldest = slot.GroupNewer;
        }

        slot.GroupNewer = slot.GroupOlder = null;
    }

    /// <summary>The oldest slot that is not of this key, among those that will do.</summary>
    internal ResourceSlot<T>? OldestOfOthers(ResourceCore<T> core, Func<ResourceSlot<T>, bool> willDo)
    {
        ResourceSlot<T>? slot = Oldest;
        while (slot is not null && (slot.Core == core || !willDo(slot)))
        {
            slot = slot.GroupNewer;
        }

        return slot;
    }

    /// <summary>Counts the slots.</summary>
    /// <exception cref="InvalidOperationException">A link is wrong, or a slot does not belong here.</exception>
    internal int Count(Func<ResourceSlot<T>, bool> belongs)
    {
        int count = 0;
        for (ResourceSlot<T>? slot = Newest; slot is not null; slot = slot.GroupOlder)
        {
            count++;
            if (!belongs(slot) || (slot.GroupOlder is { } older ? older.GroupNewer != slot : slot != Oldest))
            {
                throw new InvalidOperationException("Keyed pool: a common list is broken.");
            }
        }

        return count;
    }
}
