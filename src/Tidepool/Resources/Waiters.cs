namespace Tidepool;

/// <summary>The queue of waiting rentals, in the order of their arrival. Under the pool's gate.</summary>
internal sealed class Waiters<T>
    where T : class
{
    private Waiter<T>? _last;
    private Waiter<T>? _spare; // nodes that may serve again
    private Waiter<T>? _recycled; // the same, pushed by anybody and taken as a whole

    internal int Count { get; private set; }

    /// <summary>How many of them are parked threads.</summary>
    internal int Parked { get; private set; }

    internal Waiter<T>? First { get; private set; }

    /// <summary>
    /// Puts a rental in its place: at the end, or before those that came later, where a rental comes back that has worked for itself.
    /// </summary>
    internal void Add(Waiter<T> waiter)
    {
        Waiter<T>? before = _last;
        while (before is not null && before.Sequence > waiter.Sequence)
        {
            before = before.Previous;
        }

        Waiter<T>? after = before is null ? First : before.Next;
        (waiter.Previous, waiter.Next) = (before, after);
        if (before is null)
        {
            First = waiter;
        }
        else
        {
            before.Next = waiter;
        }

        if (after is null)
        {
            _last = waiter;
        }
        else
        {
            after.Previous = waiter;
        }

        waiter.State = WaiterState.Queued;
        Count++;
        Parked += waiter.IsSync ? 1 : 0;
    }

    /// <summary>Takes one out; its state is the caller's to set.</summary>
    internal void Remove(Waiter<T> waiter)
    {
        if (waiter.Previous is { } previous)
        {
            previous.Next = waiter.Next;
        }
        else
        {
            First = waiter.Next;
        }

        if (waiter.Next is { } next)
        {
            next.Previous = waiter.Previous;
        }
        else
        {
            _last = waiter.Previous;
        }

        (waiter.Previous, waiter.Next) = (null, null);
        Count--;
        Parked -= waiter.IsSync ? 1 : 0;
    }

    /// <summary>The rental behind the first so many.</summary>
    internal Waiter<T>? After(int count)
    {
        Waiter<T>? waiter = First;
        while (count-- > 0 && waiter is not null)
        {
            waiter = waiter.Next;
        }

        return waiter;
    }

    /// <summary>The first parked rental behind the first so many.</summary>
    internal Waiter<T>? ParkedAfter(int count)
    {
        if (Parked == 0)
        {
            return null;
        }

        Waiter<T>? waiter = After(count);
        while (waiter is { IsSync: false })
        {
            waiter = waiter.Next;
        }

        return waiter;
    }

    /// <summary>Takes a node that may serve again, if there is one.</summary>
    internal Waiter<T>? TakeNode()
    {
        Waiter<T>? waiter = _spare ?? Interlocked.Exchange(ref _recycled, null);
        if (waiter is not null)
        {
            _spare = waiter.NextDone;
            waiter.NextDone = null;
        }

        return waiter;
    }

    /// <summary>Keeps a node whose caller has its answer. Not under the gate.</summary>
    internal void GiveNode(Waiter<T> waiter)
    {
        if (!waiter.TryReset())
        {
            return; // a late cancellation may still come
        }

        Waiter<T>? first = Volatile.Read(ref _recycled);
        while (true)
        {
            waiter.NextDone = first;
            Waiter<T>? found = Interlocked.CompareExchange(ref _recycled, waiter, first);
            if (found == first)
            {
                return;
            }

            first = found;
        }
    }

    internal bool IsValid()
    {
        int count = 0;
        int parked = 0;
        for (Waiter<T>? waiter = First; waiter is not null; waiter = waiter.Next)
        {
            if (waiter.State != WaiterState.Queued
                || (waiter.Next is { } next ? next.Previous != waiter || next.Sequence <= waiter.Sequence : waiter != _last))
            {
                return false;
            }

            count++;
            parked += waiter.IsSync ? 1 : 0;
        }

        return count == Count && parked == Parked;
    }
}
