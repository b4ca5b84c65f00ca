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
