namespace Tidepool;

/// <summary>
/// Slots in the order in which they came: those that are idle, or whose work has not begun, of one pool or over all keys. Under the gate.
/// </summary>
/// <param name="isShared">The list is over all keys: a slot may stand in one such list, and in one of its own pool.</param>
internal sealed class SlotList<T>(bool isShared = false)
    where T : class
{
    internal int Count { get; private set; }

    internal ResourceSlot<T>? Newest { get; private set; }

    internal ResourceSlot<T>? Oldest { get; private set; }

    internal void Add(ResourceSlot<T> slot) => AddAfter(Newest, slot);

    /// <summary>Puts a slot behind another one, or before all where that is null.</summary>
    internal void AddAfter(ResourceSlot<T>? older, ResourceSlot<T> slot)
    {
        ResourceSlot<T>? newer = older is null ? Oldest : LinksOf(older).Newer;
        LinksOf(slot) = new SlotLinks<T> { Older = older, Newer = newer };
        Join(older, slot);
        Join(slot, newer);
        Count++;
    }

    internal void Remove(ResourceSlot<T> slot)
    {
        Join(LinksOf(slot).Older, LinksOf(slot).Newer);
        LinksOf(slot) = default;
        Count--;
    }

    internal ResourceSlot<T>? NewerThan(ResourceSlot<T> slot) => LinksOf(slot).Newer;

    internal ResourceSlot<T>? OlderThan(ResourceSlot<T> slot) => LinksOf(slot).Older;

    /// <summary>The oldest slot that is not of this key, among those that will do.</summary>
    internal ResourceSlot<T>? OldestOfOthers(PoolState<T> pool, Func<ResourceSlot<T>, bool> willDo)
    {
        ResourceSlot<T>? slot = Oldest;
        while (slot is not null && (slot.Core.State == pool || !willDo(slot)))
        {
            slot = NewerThan(slot);
        }

        return slot;
    }

    /// <summary>Whether the links agree, and each slot is one that belongs here.</summary>
    internal bool IsValid(Func<ResourceSlot<T>, bool> belongs)
    {
        int count = 0;
        for (ResourceSlot<T>? slot = Newest; slot is not null; slot = OlderThan(slot))
        {
            if (!belongs(slot) || (OlderThan(slot) is { } older ? NewerThan(older) != slot : slot != Oldest))
            {
                return false;
            }

            count++;
        }

        return count == Count;
    }

    /// <summary>Lets two slots follow each other; null is the end of the list.</summary>
    private void Join(ResourceSlot<T>? older, ResourceSlot<T>? newer)
    {
        if (older is null)
        {
            Oldest = newer;
        }
        else
        {
            LinksOf(older).Newer = newer;
        }

        if (newer is null)
        {
            Newest = older;
        }
        else
        {
            LinksOf(newer).Older = older;
        }
    }

    private ref SlotLinks<T> LinksOf(ResourceSlot<T> slot) => ref isShared ? ref slot.SharedLinks : ref slot.Links;
}

/// <summary>The neighbours of a slot in a list.</summary>
internal struct SlotLinks<T>
    where T : class
{
    internal ResourceSlot<T>? Newer;
    internal ResourceSlot<T>? Older;
}
