using Tidepool.Models.Scheduling;

namespace Tidepool.Models.States;

/// <summary>One move of a renter, a thread or the policy.</summary>
internal enum MoveKind
{
    Rent,
    Park,
    Return,
    Break,
    Cancel,
    ThreadComes,
    Succeed,
    Fail,
    HandToThreadPool,
    LeaveEnding,
    AnswerLate,
    Tick,
    Clear,
    Resize,
    Close,
}

/// <summary>A move, and which of the rentals, leases or operations it is about.</summary>
internal readonly record struct Move(MoveKind Kind, int Which);

/// <summary>
/// The state of a pool, and all that act on it, in one thread: renters, threads of the thread pool, parked threads and the policy do
/// what a move says. Nothing is called but <see cref="PoolState{T}"/>.
/// </summary>
internal sealed class StateWorld
{
    private readonly StatePool _pool;
    private readonly Bounds _bounds;
    private readonly PoolState<object> _state;
    private readonly List<Waiter<object>> _waiters = []; // in the order of arrival
    private readonly List<ResourceSlot<object>> _leased = [];
    private readonly HashSet<ResourceSlot<object>> _running = []; // on the thread pool, or in the policy's own code
    private readonly List<(ResourceSlot<object> Slot, SlotWork Work)> _abandoned = [];
    private readonly List<Task> _clears = [];
    private readonly Dictionary<MoveKind, int> _left;
    private int _max;

    internal StateWorld(StatePool pool, Bounds bounds)
    {
        _pool = pool;
        _bounds = bounds;
        _max = bounds.Slots;
        _state = pool.Begin();
        _left = new()
        {
            [MoveKind.Fail] = bounds.Failures,
            [MoveKind.Break] = bounds.Bad,
            [MoveKind.Clear] = bounds.Changes,
            [MoveKind.Tick] = bounds.Ticks,
            [MoveKind.Cancel] = bounds.Cancels,
        };
        using PoolSection<object> section = Enter();
        _state.Dispatch(section);
    }

    private bool IsQuiet => _waiters.Count == 0;

    private bool IsDone => IsQuiet && _clears.TrueForAll(static c => c.IsCompleted);

    internal string Describe()
    {
        using PoolSection<object> section = Enter();
        string left = $"{_pool.Asked}|{string.Join(',', _left.Values)}|{string.Join(',', _abandoned.Select(static a => a.Work))}";
        return $"{_state.Describe(_waiters, section)}|{left}";
    }

    /// <summary>What may happen next.</summary>
    internal List<Move> Moves()
    {
        var moves = new List<Move>();
        bool isClosed = _state.IsClosed;
        Add(MoveKind.Rent, !isClosed && _waiters.Count < _bounds.Waiting ? 1 : 0);
        Add(MoveKind.Park, !isClosed && _waiters.Count < _bounds.Waiting && _waiters.Count(static w => w.IsSync) < _bounds.Parked ? 1 : 0);
        Add(MoveKind.Return, _leased.Count);
        Add(MoveKind.Break, _left[MoveKind.Break] > 0 ? _leased.Count : 0);
        Add(MoveKind.Cancel, _left[MoveKind.Cancel] > 0 ? _waiters.Count : 0);
        Add(MoveKind.ThreadComes, _pool.Asked > 0 ? 1 : 0);
        ResourceSlot<object>[] begun = Begun();
        Add(MoveKind.Succeed, begun.Length);
        for (int i = 0; i < begun.Length; i++)
        {
            bool mayFail = begun[i].State switch
            {
                SlotState.Creating => _left[MoveKind.Fail] > 0,
                SlotState.Checking => _left[MoveKind.Break] > 0,
                _ => false,
            };
            AddOne(MoveKind.Fail, i, mayFail);
            bool hasWorker = WorkerOf(begun[i]) is not null;
            AddOne(MoveKind.HandToThreadPool, i, hasWorker && begun[i].State == SlotState.Checking);
            AddOne(MoveKind.LeaveEnding, i, hasWorker && begun[i].State == SlotState.Destroying);
        }

        Add(MoveKind.AnswerLate, _abandoned.Count);
        Add(MoveKind.Tick, _left[MoveKind.Tick] > 0 && _pool.Due < ResourceSettings.NoLimit ? 1 : 0);
        bool mayChange = !isClosed && _left[MoveKind.Clear] > 0;
        Add(MoveKind.Clear, mayChange ? 1 : 0);
        Add(MoveKind.Resize, mayChange ? _bounds.Slots : 0);
        Add(MoveKind.Close, mayChange ? 1 : 0);
        return moves;

        void Add(MoveKind kind, int count) => moves.AddRange(Enumerable.Range(0, count).Select(which => new Move(kind, which)));

        void AddOne(MoveKind kind, int which, bool may)
        {
            if (may)
            {
                moves.Add(new Move(kind, which));
            }
        }
    }

    /// <summary>Makes a move, and looks whether rentals were served in the order of their arrival.</summary>
    internal void Do(Move move)
    {
        Waiter<object>[] queued = [.. _waiters.Where(static w => w.State == WaiterState.Queued)];
        ResourceSlot<object>[] begun = Begun();
        switch (move.Kind)
        {
            case MoveKind.Rent or MoveKind.Park:
                Rent(isSync: move.Kind == MoveKind.Park);
                break;
            case MoveKind.Return or MoveKind.Break:
                Return(_leased[move.Which], isBroken: move.Kind == MoveKind.Break);
                break;
            case MoveKind.Succeed or MoveKind.Fail:
                Answer(begun[move.Which], isGood: move.Kind == MoveKind.Succeed);
                break;
            case MoveKind.AnswerLate:
                AnswerLate(move.Which);
                break;
            case MoveKind.Tick:
                Spend(MoveKind.Tick);
                Tick();
                break;
            default:
                Change(move, begun);
                break;
        }

        _abandoned.AddRange(begun.Where(static s => s.State == SlotState.Abandoned).Select(static s => (s, s.Work)));
        _running.RemoveWhere(static s => s.State == SlotState.Abandoned);
        Settle(queued);
    }

    /// <summary>Makes all moves that are left, until no rental waits.</summary>
    internal void Drain()
    {
        for (int i = 0; i < 200 && !IsDone; i++)
        {
            if (Begun() is [.., { } last])
            {
                Answer(last, isGood: true);
            }
            else if (_pool.Asked > 0)
            {
                ThreadComes();
            }
            else if (_leased.Count > 0)
            {
                Return(_leased[0], isBroken: false);
            }
            else if (_abandoned.Count > 0)
            {
                AnswerLate(0);
            }
            else if (_pool.Due < ResourceSettings.NoLimit)
            {
                Tick();
            }

            Settle([]);
        }

        Require(IsQuiet, "a rental still waits when all is done");
        Require(IsDone, "a clear does not end");
    }

    internal void Validate()
    {
        using PoolSection<object> section = Enter();
        string? fault = _state.FindFault(section);
        Require(fault is null, fault ?? string.Empty);
        Require(!_waiters.Exists(w => w.State == WaiterState.Queued && w.Deadline <= _pool.Now), "a rental waits beyond its time");
        Require(_state.AtWork == _waiters.Count(static w => w.State == WaiterState.Working), "the rentals at work are not those that work");
        ResourceSlot<object>[] begun = Begun();
        Require(
            Array.TrueForAll(begun, s => _running.Contains(s) || WorkerOf(s) is not null),
            "a place is kept for work that is not being done");
        Require(_running.IsSubsetOf(begun), "work is being done that has no place");
        Require(
            _bounds.Ticks == 0 || Array.TrueForAll(begun, s => s.DueAt < ResourceSettings.NoLimit && _pool.Due <= s.DueAt),
            "work that hangs is never given up");
        (int _, int used) = _state.Places;
        Require(used <= _max || _left[MoveKind.Clear] < _bounds.Changes, $"{used} places are taken of {_max}");
        Require(_state.Drained.IsCompleted == (_state.IsClosed && _leased.Count == 0), "the shutdown is not told that all leases are back");
        Require(_state.Ended.IsCompleted == (_state.IsClosed && used == 0), "the shutdown is not told that nothing is left");
    }

    private static void Require(bool holds, string fault)
    {
        if (!holds)
        {
            throw new ScheduleException(fault);
        }
    }

    private PoolSection<object> Enter() => _pool.Core.Gate.Enter();

    private ResourceSlot<object>[] Begun() => [.. _state.Begun];

    private Waiter<object>? WorkerOf(ResourceSlot<object> slot) => _waiters.Find(w => w.State == WaiterState.Working && w.Slot == slot);

    private void Spend(MoveKind kind) => _left[kind]--;

    private void Rent(bool isSync)
    {
        ResourceSlot<object>? slot;
        using (PoolSection<object> section = Enter())
        {
            slot = _state.TryLeaseFresh(null, section);
        }

        if (slot is not null)
        {
            Require(!_waiters.Exists(static w => w.State == WaiterState.Queued), "a newcomer overtook a rental that waits");
            _leased.Add(slot);
            return;
        }

        using (PoolSection<object> section = Enter())
        {
            var rental = new RentalRequest(_bounds.Patience ?? ResourceSettings.NoLimit, isSync, null, 0, null, default);
            _waiters.Add(_state.Queue(rental, out _, out _, section)!);
        }

        // A check that has begun on the renter's thread, and goes on without it.
        _running.UnionWith(Begun().Where(s => s.State == SlotState.Checking && WorkerOf(s) is null));
    }

    private void Return(ResourceSlot<object> slot, bool isBroken)
    {
        if (isBroken)
        {
            Spend(MoveKind.Break);
        }

        _leased.Remove(slot);
        Require(slot.TryRetire(slot.Version), "a lease is not out");
        using PoolSection<object> section = Enter();
        _state.Return(slot, isBroken ? DestroyReason.Broken : null, section);
    }

    private void ThreadComes()
    {
        _pool.Asked--;
        using PoolSection<object> section = Enter();
        if (_state.BeginOldest(section) is { } slot)
        {
            _running.Add(slot);
        }
    }

    private void Answer(ResourceSlot<object> slot, bool isGood)
    {
        Waiter<object>? worker = WorkerOf(slot);
        _running.Remove(slot);
        using PoolSection<object> section = Enter();
        switch (slot.State)
        {
            case SlotState.Creating when isGood:
                _state.FinishCreate(slot, new object(), default, worker, section);
                break;
            case SlotState.Creating:
                Spend(MoveKind.Fail);
                _state.FailCreate(slot, new IOException("as asked"), isPermanent: false, worker, section);
                break;
            case SlotState.Checking:
                _left[MoveKind.Break] -= isGood ? 0 : 1;
                _state.FinishCheck(slot, isGood ? null : DestroyReason.ValidationFailed, worker, keepsDirt: false, section);
                break;
            default:
                _state.FinishDestroy(slot, hasFailed: false, worker, section);
                break;
        }
    }

    /// <summary>The policy answers for an operation that was given up.</summary>
    private void AnswerLate(int which)
    {
        (ResourceSlot<object> slot, SlotWork work) = _abandoned[which];
        _abandoned.RemoveAt(which);
        Waiter<object>? worker = WorkerOf(slot);
        using PoolSection<object> section = Enter();
        bool isInTime = work switch
        {
            SlotWork.Create => _state.FinishCreate(slot, new object(), default, worker, section),
            SlotWork.Destroy => false,
            _ => _state.FinishCheck(slot, null, worker, keepsDirt: false, section),
        };
        Require(!isInTime, "a late answer was taken");
        if (work == SlotWork.Destroy)
        {
            _state.FinishDestroy(slot, hasFailed: false, worker, section);
        }
    }

    private void Tick()
    {
        _pool.MoveToDue();
        using PoolSection<object> section = Enter();
        _state.DoHousekeeping(section.TimerFired(), section);
    }

    private void Change(Move move, ResourceSlot<object>[] begun)
    {
        if (move.Kind == MoveKind.ThreadComes)
        {
            ThreadComes();
            return;
        }

        using PoolSection<object> section = Enter();
        switch (move.Kind)
        {
            case MoveKind.Cancel:
                Spend(MoveKind.Cancel);
                _state.TryLeave(_waiters[move.Which], WaiterFailure.Cancelled, section);
                break;
            case MoveKind.HandToThreadPool:
                _state.HandToThreadPool(begun[move.Which], WorkerOf(begun[move.Which]), section);
                break;
            case MoveKind.LeaveEnding:
                _running.Add(begun[move.Which]);
                _state.ReturnWorker(WorkerOf(begun[move.Which])!, section);
                break;
            case MoveKind.Clear:
                Spend(MoveKind.Clear);
                _clears.Add(_state.Clear(null, section)!);
                break;
            case MoveKind.Resize:
                Spend(MoveKind.Clear);
                _max = move.Which + 1;
                _state.Resize(0, _max, section);
                break;
            default:
                Spend(MoveKind.Clear);
                _state.Close(section);
                break;
        }
    }

    /// <summary>Rentals that were decided go on with their leases, or without.</summary>
    private void Settle(Waiter<object>[] queued)
    {
        foreach (Waiter<object> waiter in _waiters.Where(static w => w.State == WaiterState.Assigned))
        {
            Require(
                !Array.Exists(queued, w => w.State == WaiterState.Queued && w.Sequence < waiter.Sequence),
                "a rental was served before one that came earlier");
            _leased.Add(waiter.Slot!);
        }

        _waiters.RemoveAll(static w => w.State is WaiterState.Assigned or WaiterState.Failed);
    }
}
