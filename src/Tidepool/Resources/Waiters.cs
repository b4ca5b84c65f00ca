namespace Tidepool;

/// <summary>The queue of waiting rentals, in the order of their arrival. Under the pool's gate.</summary>
internal sealed class Waiters<T>
    where T : class
{
    private IntrusiveList<Waiter<T>, WaiterLinks<T>> _queue;
    private Waiter<T>? _spare; // nodes that may serve again
    private Waiter<T>? _recycled; // the same, pushed by anybody and taken as a whole

    internal int Count => _queue.Count;

    /// <summary>How many of them are parked threads.</summary>
    internal int Parked { get; private set; }

    internal Waiter<T>? First => _queue.Oldest;

    /// <summary>
    /// Puts a rental in its place: at the end, or before those that came later, where a rental comes back that has worked for itself.
    /// </summary>
    internal void Add(Waiter<T> waiter)
    {
        Waiter<T>? before = _queue.Newest;
        while (before is not null && before.Sequence > waiter.Sequence)
        {
            before = before.Links.Older;
        }

        _queue.AddAfter(before, waiter);
        waiter.State = WaiterState.Queued;
        Parked += waiter.IsSync ? 1 : 0;
    }

    /// <summary>Takes one out; its state is the caller's to set.</summary>
    internal void Remove(Waiter<T> waiter)
    {
        _queue.Remove(waiter);
        Parked -= waiter.IsSync ? 1 : 0;
    }

    /// <summary>The rental behind the first so many.</summary>
    internal Waiter<T>? After(int count)
    {
        Waiter<T>? waiter = First;
        while (count-- > 0 && waiter is not null)
        {
            waiter = waiter.Links.Newer;
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
            waiter = waiter.Links.Newer;
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
        int parked = 0;
        return _queue.IsValid(IsInOrder) && parked == Parked;

        bool IsInOrder(Waiter<T> waiter)
        {
            parked += waiter.IsSync ? 1 : 0;
            return waiter.State == WaiterState.Queued && (waiter.Links.Newer is not { } next || next.Sequence > waiter.Sequence);
        }
    }
}

/// <summary>Waits for the end of the resources that one clear found idle.</summary>
internal sealed class Clearing() : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
{
    internal int Left { get; set; }
}

/// <summary>One caller that waits until the pool has grown to a number of resources.</summary>
internal sealed class Warming(int count) : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
{
    internal int Count => count;
}
