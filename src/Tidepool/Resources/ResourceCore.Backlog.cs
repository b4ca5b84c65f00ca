namespace Tidepool;

/// <summary>
/// Work that no thread has begun yet. It is for the thread pool; but where all of its threads are parked for this very pool, none would come: so
/// a parked rental for which nothing has begun does it itself. docs/design/resources.md has the table of who may do what.
/// </summary>
internal sealed partial class ResourceCore<T>
{
    /// <summary>Creations and checks: each serves somebody when it is done.</summary>
    private readonly SlotList<T> _backlog = new();

    /// <summary>Resources to be ended: each gives a place free.</summary>
    private readonly SlotList<T> _endings = new();

    /// <summary>Threads that were asked for and have not come; never fewer than there is work.</summary>
    private int _threadsAsked;

    /// <summary>Detached work runs where a test says, and not on the thread pool.</summary>
    internal bool IsInline => _executor is not null;

    /// <summary>Asks for a thread for the backlog. The gate was left.</summary>
    internal void QueueThread()
    {
        if (_executor is not null)
        {
            _executor(this);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>A thread has come: it does what is oldest, if that was not done meanwhile.</summary>
    void IThreadPoolWorkItem.Execute()
    {
        ResourceSlot<T>? slot;
        using (PoolSection<T> section = Gate.Enter("thread"))
        {
            _threadsAsked--;
            slot = _endings.Oldest ?? _backlog.Oldest;
            if (slot is not null)
            {
                Take(slot);
                SetDue(slot, section);
            }
        }

        if (slot is not null)
        {
            Work(slot);
        }
    }

    /// <summary>Does a slot's work; it ends when the policy's answer was taken.</summary>
    internal void Work(ResourceSlot<T> slot) => _ = slot.Work switch
    {
        SlotWork.Create => CreateAsync(slot),
        SlotWork.Check => CheckAsync(slot),
        SlotWork.Reset => ResetOnThread(slot),
        SlotWork.KeepAlive => KeepAliveAsync(slot),
        _ => DestroyAsync(slot, slot.Resource!, slot.Why),
    };

    /// <summary>Lets a slot's work begin, on whatever thread comes first. Its time runs from then on. Under the gate.</summary>
    private void Start(ResourceSlot<T> slot, SlotWork kind, PoolSection<T> section)
    {
        slot.Work = kind;
        slot.IsForPool = false;
        if (kind == SlotWork.Check && section.ChecksInline)
        {
            SetDue(slot, section);
            section.Check(slot);
            return;
        }

        slot.DueAt = ResourceSettings.Forever;
        slot.Backlog = kind == SlotWork.Destroy ? _endings : _backlog;
        slot.Backlog.Add(slot);
        _group?.Unbegun(slot).Add(slot);
        if (_threadsAsked < _backlog.Count + _endings.Count)
        {
            _threadsAsked++;
            section.AskForThread(this);
        }
    }

    /// <summary>A thread begins with a slot's work.</summary>
    private void Take(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
        slot.Backlog!.Remove(slot);
        slot.Backlog = null;
        _group?.Unbegun(slot).Remove(slot);
    }

    /// <summary>The pool was shut down: what no thread has begun is not wanted any more. Under the gate.</summary>
    private void EmptyBacklog(PoolSection<T> section)
    {
        while (_backlog.Oldest is { } slot)
        {
            Take(slot);
            if (slot.State == SlotState.Creating)
            {
                Release(slot, SlotState.Free, section);
            }
            else
            {
                Destroy(slot, DestroyReason.Shutdown, section);
            }
        }
    }

    /// <summary>
    /// The pool was cleared: what stands before its reset is ended without one, and a creation that no thread has begun makes what counts from
    /// now on. Under the gate.
    /// </summary>
    private void ClearBacklog(Clearing clearing, PoolSection<T> section)
    {
        for (ResourceSlot<T>? slot = _backlog.Oldest; slot is not null;)
        {
            ResourceSlot<T>? newer = slot.Newer;
            if (slot.State == SlotState.Creating)
            {
                slot.Generation = _generation;
            }
            else
            {
                clearing.Left++;
                slot.Clearing = clearing;
                Take(slot);
                Destroy(slot, DestroyReason.Cleared, section);
            }

            slot = newer;
        }
    }

    /// <summary>Whether a thread has parked for a rental of this pool, of any key.</summary>
    private bool HasParked => _hasParked || _group is { HasParked: true };

    /// <summary>A thread is about to park: from now on no reset may need a second one.</summary>
    private void NoteParked()
    {
        if (_waitsInReset && !_hasParked)
        {
            _hasParked = true;
        }

        if (_group is { HasParked: false })
        {
            _group.HasParked = true;
        }
    }

    /// <summary>Lets parked threads work: for their own key first, then at what other keys have to end. Under the gate.</summary>
    private void LetParkedHelp(PoolSection<T> section)
    {
        LetParkedWork(section);
        _group?.LetParkedEnd(section);
    }

    /// <summary>Lets a parked thread that waits for a place of the group end a resource, of whatever key.</summary>
    /// <returns>False when there is no such thread.</returns>
    internal bool TryLetParkedEnd(ResourceSlot<T> ending, PoolSection<T> section)
    {
        if (ParkedForNothing() is not { } waiter)
        {
            return false;
        }

        ending.Core.Take(ending);
        ending.Core.SetDue(ending, section);
        LetWork(waiter, ending, section);
        return true;
    }

    /// <summary>Whether a parked thread waits for which nothing has begun. Under the gate.</summary>
    internal bool HasParkedForNothing => ParkedForNothing() is not null;

    /// <summary>Lets parked threads do themselves what no thread has begun, where nothing has begun for them. Under the gate.</summary>
    internal void LetParkedWork(PoolSection<T> section)
    {
        while (_backlog.Count > 0 && ParkedForNothing() is { } waiter && FirstForParked() is { } slot)
        {
            Take(slot);
            BeginByRenter(slot, section);
            LetWork(waiter, slot, section);
        }

        while (_endings.Oldest is { } ending && ParkedForNothing() is { } waiter)
        {
            Take(ending);
            SetDue(ending, section);
            LetWork(waiter, ending, section);
        }
    }

    /// <summary>The first parked rental for which nothing has begun.</summary>
    private Waiter<T>? ParkedForNothing() => _waiters.ParkedAfter(InFlight - _backlog.Count);

    /// <summary>What was asked for first of that which a parked thread can do.</summary>
    private ResourceSlot<T>? FirstForParked()
    {
        Gate.AssertHeld();
        ResourceSlot<T>? slot = _backlog.Oldest;
        while (slot is not null && (slot.State == SlotState.Creating ? !_createsHere : slot.IsForPool))
        {
            slot = slot.Newer;
        }

        return slot;
    }

    /// <summary>Lets the thread of a parked rental work for itself.</summary>
    private void LetWork(Waiter<T> waiter, ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.Work = slot.State switch
        {
            SlotState.Creating => SlotWork.Create,
            SlotState.Checking => SlotWork.Check,
            _ => SlotWork.Destroy,
        };
        Dequeue(waiter);
        _atWork++;
        waiter.State = WaiterState.Working;
        waiter.Slot = slot;
        section.Tell(waiter);
    }

    /// <summary>The reset after a synchronous return: this thread waits for it, so that its end needs no other one.</summary>
    private Task ResetOnThread(ResourceSlot<T> slot)
    {
        if (CheckHere(slot) is not { } check)
        {
            return CheckAsync(slot);
        }

        FinishCheck(slot, ReasonOf(check));
        return Task.CompletedTask;
    }

    /// <summary>
    /// The thread of a parked rental ends a resource, of its key or of another. The rental is back in its place afterwards: what is
    /// returned meanwhile is not for a thread that cannot use it.
    /// </summary>
    private void EndHere(ResourceSlot<T> slot, Waiter<T> waiter)
    {
        Schedule.Point("end here");

        // What the policy awaits may not come back to this thread, which goes on to wait.
        SynchronizationContext? context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        DestroyReason why = slot.Why;
        ValueTask destruction = slot.Core.BeginDestroy(slot.Resource!, why);
        bool isDone = destruction.IsCompleted;
        _ = slot.Core.FinishDestroyAsync(slot, destruction, why, isDone ? waiter : null);
        SynchronizationContext.SetSynchronizationContext(context);
        if (isDone)
        {
            return;
        }

        using PoolSection<T> section = Gate.Enter();
        Requeue(waiter, section);
        Pump(section);
    }
}
