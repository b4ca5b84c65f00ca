namespace Tidepool;

/// <summary>The invariants, as code.</summary>
internal sealed partial class ResourceCore<T>
{
    /// <summary>Checks every invariant of the state at this moment.</summary>
    /// <exception cref="InvalidOperationException">One does not hold.</exception>
    internal void Validate()
    {
        string? fault;
        using (PoolSection<T> section = Gate.Enter())
        {
            SettleHot(section);
            fault = FindFault(section);
            fault = fault is null ? null : $"Pool '{Name}': {fault}. {Snapshot()}";
        }

        if (fault is not null)
        {
            throw new InvalidOperationException(fault);
        }
    }

    private string? FindFault(PoolSection<T> section)
    {
        ResourcePoolStatistics s = Snapshot();
        int[] states = new int[_counts.Length];
        foreach (ResourceSlot<T> slot in _slots)
        {
            states[(int)slot.State]++;
        }

        return
            _slots.Where((slot, index) => slot.Index != index || !slot.IsValid() || slot.State is SlotState.Free or SlotState.Abandoned).Any() ? "a slot's parts do not agree"
            : _slots.Distinct().Count() != _slots.Count ? "a slot is listed twice"
            : _free.Any(static slot => slot.State != SlotState.Free || !slot.IsValid()) ? "a free slot is not free"
            : Enumerable.Range((int)SlotState.Creating, (int)SlotState.Destroying).Any(i => states[i] != _counts[i]) ? "the counts are not those of the slots"
            : !_idle.IsValid(static slot => slot.State == SlotState.Idle) || _idle.Count != s.Idle ? "the idle list is broken"
            : !_waiters.IsValid() ? "the queue is broken"
            : !_backlog.IsValid(slot => slot.Backlog == _backlog && !slot.IsByRenter && slot.State is SlotState.Creating or SlotState.Checking)
                || !_endings.IsValid(slot => slot.Backlog == _endings && slot.State == SlotState.Destroying) ? "the backlog is broken"
            : _threadsAsked < _backlog.Count + _endings.Count ? "work waits for which no thread was asked"
            : _slots.Count(static slot => slot.IsByRenter) != _byRenter ? "the renters at work are not those of the slots"
            : s.Total != s.Created - s.Destroyed - s.Detached ? "created - destroyed - detached is not the total"
            : _isHotOpen && (!_hasHot || _waiters.Count > 0 || _isClosed) ? "the hot place is open although somebody waits"
            : Used > _max != _isBeyond ? "more places are taken than there are"
            : Live > _max && s.Idle > 0 ? "a pool that was made smaller keeps idle resources"
            : !_isClosed && IsStalled(section) ? "somebody waits for whom nothing is done"
            : _isClosed && (s.Idle > 0 || s.Waiting > 0) ? "a closed pool has idle resources, or somebody waits"
            : null;
    }

    /// <summary>A lost wake-up: somebody waits, nothing is under way for it, something could be, and the timer is not about to see to it.</summary>
    private bool IsStalled(PoolSection<T> section) =>
        (_waiters.Count > InFlight && Timer.Due > section.Now && (_idle.Count > 0 || (_group is null && WantsCreation(section))))
        || (ParkedForNothing() is not null && (_endings.Count > 0 || FirstForParked() is not null));
}
