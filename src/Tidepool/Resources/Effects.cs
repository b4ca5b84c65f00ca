using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// What a section has decided and what is done after the gate was left: callers are notified, the policy is called, timers are set. No
/// code of others ever runs under the gate.
/// </summary>
internal struct Effects<T>
    where T : class
{
    private Waiter<T>? _firstDone;
    private Waiter<T>? _lastDone;
    private ResourceSlot<T>? _lastCheck;
    private ResourceCore<T>? _wanting;
    private int _threads;
    private List<Action>? _others;
    private PoolReport? _report;
    private PoolState<T>? _reporter;

    /// <summary>The pool's timer must be set anew.</summary>
    internal bool SetsTimer { get; set; }

    /// <summary>Checks begin on this thread, which is the renter's own; otherwise on the thread pool.</summary>
    internal bool ChecksInline { get; set; }

    /// <summary>Takes the callers to be notified, where that is all there is to do: what nearly every section ends with.</summary>
    /// <remarks>
    /// Field by field: a copy of the whole struct reads in one piece what was written in several just before, and waits, with the gate
    /// held, until all of that has reached the cache.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryTakeDone(out Waiter<T>? first)
    {
        if (_lastCheck is not null || _wanting is not null || _others is not null || _reporter is not null || SetsTimer)
        {
            first = null;
            return false;
        }

        first = _firstDone;
        if (first is not null)
        {
            _firstDone = _lastDone = null;
        }

        ChecksInline = false;
        return true;
    }

    internal PoolReport ReportOf(PoolState<T> pool, PoolSection<T> section)
    {
        if (_reporter != pool)
        {
            _report = pool.Report(section);
            _reporter = pool;
        }

        return _report!;
    }

    internal void Notify(Waiter<T> waiter)
    {
        waiter.NextDone = null;
        if (_lastDone is { } last)
        {
            last.NextDone = waiter;
        }
        else
        {
            _firstDone = waiter;
        }

        _lastDone = waiter;
    }

    internal void Check(ResourceSlot<T> slot)
    {
        slot.NextCheck = _lastCheck;
        _lastCheck = slot;
    }

    internal void RequestThread(ResourceCore<T> core)
    {
        if (_wanting is null || _wanting == core)
        {
            _wanting = core;
            _threads++;
        }
        else
        {
            Then(core.Runner.QueueThread);
        }
    }

    internal void Then(Action action) => (_others ??= []).Add(action);

    /// <summary>Notifies callers, after the gate was left.</summary>
    internal static void NotifyAll(Waiter<T>? first)
    {
        for (Waiter<T>? waiter = first; waiter is not null;)
        {
            // Read before the caller is notified: from then on the node may serve again.
            Waiter<T>? next = waiter.NextDone;
            waiter.Core.Notify(waiter);
            waiter = next;
        }
    }

    /// <summary>Does it all, after the gate was left.</summary>
    internal readonly void Run(PoolTimer timer)
    {
        NotifyAll(_firstDone);
        if (SetsTimer)
        {
            timer.Apply();
        }

        for (int i = 0; i < _threads; i++)
        {
            _wanting!.Runner.QueueThread();
        }

        if (_others is not null)
        {
            foreach (Action action in _others)
            {
                action();
            }
        }

        // Last: the policy may block this thread, and nothing else waits for it then.
        for (ResourceSlot<T>? slot = _lastCheck; slot is not null;)
        {
            ResourceSlot<T>? next = slot.NextCheck;
            slot.NextCheck = null;
            slot.Core.Runner.Work(slot);
            slot = next;
        }
    }
}
