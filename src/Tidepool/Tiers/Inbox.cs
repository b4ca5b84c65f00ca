namespace Tidepool;

/// <summary>
/// The slots that other threads returned: a lock-free stack that any thread pushes to and whose whole content is taken at once.
/// </summary>
/// <remarks>
/// R. K. Treiber's stack (1986) without pop: taking all by one exchange leaves no ABA problem. Kept apart from the magazine so that foreign
/// pushes do not take the cache line that the owner works on. Order: the compare-and-swap of a push publishes the slot's fields (full fence
/// on x64, release on arm64); the exchange of the taker acquires them.
/// </remarks>
internal sealed class Inbox
{
    private const int MaxSteps = 1 << 20; // a list that is taken while it is counted may lead anywhere

    // A cache line of its own: other threads push here while the owner works on the magazine beside it.
    private readonly CacheLine _before;
    private Slot? _head;
    private readonly CacheLine _after;

    internal Inbox() => (_before, _after) = (default, default);

    internal bool IsEmpty => Volatile.Read(ref _head) is null;

    /// <summary>How many returns wait: slots whose posting did not lose a race. Exact when nobody pushes or takes.</summary>
    internal int Count
    {
        get
        {
            int count = 0;
            int steps = 0;
            for (Slot? slot = Volatile.Read(ref _head); slot is not null && steps < MaxSteps; slot = slot.Next)
            {
                steps++;
                count += slot.IsPosted ? 1 : 0;
            }

            return count;
        }
    }

    /// <summary>Adds a claimed slot.</summary>
    /// <returns>About how many slots wait now.</returns>
    internal int Push(Slot slot)
    {
        Slot? head = Volatile.Read(ref _head);
        while (true)
        {
            int depth = head is null ? 1 : head.Depth + 1;
            slot.Depth = depth;
            slot.Next = head;
            Schedule.Point("inbox push");
            Slot? found = Interlocked.CompareExchange(ref _head, slot, head);
            if (found == head)
            {
                return depth;
            }

            head = found;
        }
    }

    /// <summary>Takes everything: the newest slot, linked by <see cref="Slot.Next"/>.</summary>
    internal Slot? TakeAll()
    {
        if (IsEmpty)
        {
            return null;
        }

        Schedule.Point("inbox take");
        return Interlocked.Exchange(ref _head, null);
    }
}
