using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The state of one pool, or of one key: slots, idle resources, waiting rentals, work that has not begun, counters, backoff; and every
/// decision. It knows no policy, clock, timer, thread or lock: a method that changes something takes the section, which has the time, and
/// adds effects to it.
/// </summary>
internal sealed partial class PoolState<T>
    where T : class
{
    private const int MaxHolders = 3;

    /// <summary>
    /// Holds the resource that was returned last, while the queue is empty; it counts as leased until a section drains it.
    /// </summary>
    internal readonly HotSlot<ResourceSlot<T>> Hot = new();

    internal readonly ResourceCore<T> Core;

    private readonly ResourceSettings _settings;
    private readonly ResourceGroup<T>? _group;
    private readonly ResetMode _resetMode;
    private readonly bool _allowsHot;

    /// <summary>A parked thread may create.</summary>
    private readonly bool _createsInline;

    /// <summary>How long an idle resource needs no validation; without end where the policy has none.</summary>
    private readonly long _validateAfterIdle;
    private readonly int[] _counts = new int[(int)SlotState.Abandoned + 1];
    private readonly List<ResourceSlot<T>> _slots = [];
    private readonly Stack<ResourceSlot<T>> _free = [];
    private readonly Waiters<T> _waiters = new();

    private IntrusiveList<ResourceSlot<T>, SlotLinks<T>> _idle;
    private int _min;
    private int _max;
    private int _generation;
    private long _ids;
    private long _sequence;
    private bool _isClosed;

    /// <summary>The pool was made smaller, and more places are taken than it has now.</summary>
    private bool _isBeyond;

    /// <summary>Slots whose renter's own thread works on them.</summary>
    private int _byRenter;

    /// <summary>Parked rentals that have left the queue to work.</summary>
    private int _atWork;

    /// <summary>Places of other keys that are being freed for this one.</summary>
    private int _steals;
    private Backoff _backoff = new();
    private Exception? _lastError;

    private long _rented;
    private long _heldFor;
    private long _waited;
    private long _waitedFor;
    private long _mostReturned;
    private long _created;
    private long _detached;
    private long _createFailures;
    private long _destroyFailures;
    private long _timedOut;
    private long _cancelled;
    private long _rejected;
    private long _failed;
    private long _overdue;
    private long _reclaimed;
    private long _staleDisposes;
    private DestroyCounts _destroyed;

    internal PoolState(
        ResourceCore<T> core, ResourceSettings settings, PolicyTraits traits, ResetMode resetMode, int maxSize, ResourceGroup<T>? group)
    {
        Core = core;
        _settings = settings;
        _group = group;
        _backlog = new Backlog<T>(group);
        _resetMode = resetMode;
        _createsInline = traits.CreatesInline;
        _validateAfterIdle = traits.Validates ? settings.ValidateAfterIdle : ResourceSettings.NoLimit;
        _allowsHot = resetMode != ResetMode.OnRent && settings.AllowsHot;
        (_min, _max) = (settings.MinSize, maxSize);
        if (_allowsHot && group is null)
        {
            Hot.Open(); // a key opens its own when a caller was served
        }
    }

    /// <summary>The generation of what is created now; each clear begins another one. Read without the gate, too.</summary>
    internal int Generation => Volatile.Read(ref _generation);

    internal bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>A keyed pool has forgotten this key.</summary>
    internal bool IsRemoved { get; private set; }

    /// <summary>Its place in the group's list of pools.</summary>
    internal int GroupIndex { get; set; } = -1;

    /// <summary>Whether it stands in the group's list of pools that wait for a place.</summary>
    internal bool IsBlocked { get; set; }

    /// <summary>How often another key's later rental was served while this one waited for a place.</summary>
    internal int PassedOver { get; set; }

    /// <summary>Its place in the group's list of pools whose hot slots are open.</summary>
    internal int OpenIndex { get; set; } = -1;

    internal Waiter<T>? FirstWaiter => _waiters.First;

    /// <summary>The number of the last rental that was queued.</summary>
    internal long LastSequence => _group?.Sequence ?? _sequence;

    /// <summary>Nothing but idle resources, so that the key can be given up for another one.</summary>
    internal bool IsOnlyIdle => Used == Count(SlotState.Idle) && IsUnused;

    /// <summary>Nothing but failed creations.</summary>
    internal bool HasOnlyFailed => Used == 0 && IsUnused && _backoff.IsProbing;

    internal int Waiting => _waiters.Count;

    /// <summary>For the checks of a group.</summary>
    internal (int Parked, int Unbegun, int ToDestroy) Waits => (_waiters.Parked, _backlog.Serving, _backlog.ToDestroy);

    /// <summary>For the checks of a group.</summary>
    internal (int Idle, int Used) Places => (_idle.Count, Used);

    /// <summary>Resources that renters hold or that are being checked.</summary>
    internal int InUse => Count(SlotState.Leased) + Count(SlotState.Checking);

    /// <summary>No rental waits or works.</summary>
    private bool IsUnused => _waiters.Count == 0 && _byRenter == 0 && _atWork == 0;

    private int Live => Count(SlotState.Idle) + Count(SlotState.Leased) + Count(SlotState.Checking);

    /// <summary>Places that are taken.</summary>
    private int Used => Live + Count(SlotState.Creating) + Count(SlotState.Destroying);

    /// <summary>Resources that will soon serve the first in the queue.</summary>
    private int InFlight => Count(SlotState.Checking) + Count(SlotState.Creating) - _byRenter;

    /// <summary>The key was not let in, or makes room for another.</summary>
    internal void Remove(PoolSection<T> section)
    {
        section.AssertHeld();
        IsRemoved = true;
    }

    /// <summary>An old copy of a lease was disposed. Not under the gate.</summary>
    internal void CountStaleDispose() => Interlocked.Increment(ref _staleDisposes);

    internal void ThrowIfClosed(PoolSection<T> section)
    {
        if (_isClosed)
        {
            throw new ResourcePoolShutdownException(Report(section));
        }
    }

    /// <summary>All counters at one moment, what is in the hot slot included.</summary>
    internal ResourcePoolStatistics GetStatistics(PoolSection<T> section)
    {
        DrainAndDispatch(section);
        return Snapshot();
    }

    /// <summary>Whether a leased resource may serve more renters at once: it is not due, and was neither marked nor cleared.</summary>
    internal bool IsStillGood(ResourceSlot<T> slot, PoolSection<T> section) => !slot.IsMarked && FindDestroyReason(slot, section) is null;

    private int Count(SlotState state) => _counts[(int)state];

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Move(ResourceSlot<T> slot, SlotState to)
    {
        Core.Gate.AssertHeld();
        if (slot.State == to)
        {
            return; // a resource that goes from one renter to the next
        }

        int[] counts = _counts;
        counts[(int)slot.State]--;
        counts[(int)to]++;
        slot.State = to;
    }

    /// <summary>Takes a free place for a creation.</summary>
    private ResourceSlot<T> Reserve()
    {
        Core.Gate.AssertHeld();
        if (!_free.TryPop(out ResourceSlot<T>? slot))
        {
            slot = new ResourceSlot<T>(Core);
            _counts[(int)SlotState.Free]++;
        }

        slot.Index = _slots.Count;
        _slots.Add(slot);
        Move(slot, SlotState.Creating);
        slot.Generation = _generation;
        slot.Attempt = _backoff.Failures;
        if (_group is not null)
        {
            _group.Used++;
        }

        return slot;
    }

    /// <summary>Gives a place free.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="to">Free, or abandoned when an operation still has the slot.</param>
    /// <param name="section">The gate.</param>
    private void Release(ResourceSlot<T> slot, SlotState to, PoolSection<T> section)
    {
        Move(slot, to);
        _isBeyond &= Used > _max;
        ResourceSlot<T> last = _slots[^1];
        last.Index = slot.Index;
        _slots[slot.Index] = last;
        _slots.RemoveAt(_slots.Count - 1);
        slot.DueAt = ResourceSettings.NoLimit;
        slot.Site = null;
        slot.Asker = null;
        slot.IsMarked = slot.IsDirty = false;
        _rented += slot.HotUses;
        _heldFor += slot.HeldFor;
        slot.HotUses = slot.HeldFor = 0;
        if (slot.Clearing is { } clearing)
        {
            slot.Clearing = null;
            if (--clearing.Left == 0)
            {
                section.Then(() => clearing.TrySetResult());
            }
        }

        if (slot.StolenBy is { } other)
        {
            slot.StolenBy = null;
            other._steals--;
        }

        if (_group is not null)
        {
            _group.Used--;
        }

        if (to == SlotState.Free)
        {
            slot.Resource = null;
            if (slot.IsStopped)
            {
                _counts[(int)SlotState.Free]--; // its token is spent
            }
            else
            {
                _free.Push(slot);
            }
        }
        else
        {
            _counts[(int)SlotState.Abandoned]--;
            section.Then(slot.StopNow);
        }
    }

    /// <summary>Notes until when the operation of a slot's state may take, and asks for the timer.</summary>
    private void SetDue(ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.DueAt = ResourceSettings.After(
            section.Now, slot.State == SlotState.Creating ? _settings.CreateTimeout : _settings.PolicyTimeout);
        slot.HasGrace = false;
        section.WakeAt(slot.DueAt);
    }

    /// <summary>All counters at one moment.</summary>
    private ResourcePoolStatistics Snapshot()
    {
        Core.Gate.AssertHeld();
        (long rented, long heldFor) = (_rented, _heldFor);
        foreach (ResourceSlot<T> slot in _slots)
        {
            rented += Volatile.Read(ref slot.HotUses);
            heldFor += Volatile.Read(ref slot.HeldFor);
        }

        // A rental that has just taken the hot resource is leased and not yet counted: it was not returned before it was rented.
        _mostReturned = Math.Max(_mostReturned, rented - Count(SlotState.Leased));
        return Snapshot(_mostReturned + Count(SlotState.Leased), _mostReturned, heldFor);
    }

    private ResourcePoolStatistics Snapshot(long rented, long returned, long heldFor) => new()
    {
        Idle = Count(SlotState.Idle),
        Leased = Count(SlotState.Leased),
        Checking = Count(SlotState.Checking),
        Creating = Count(SlotState.Creating),
        Destroying = Count(SlotState.Destroying),
        Waiting = _waiters.Count,
        MinSize = _min,
        MaxSize = _max,
        Rented = rented,
        Returned = returned,
        HeldTime = TimeSpan.FromMilliseconds(heldFor),
        Waited = _waited,
        WaitTime = TimeSpan.FromMilliseconds(_waitedFor),
        Created = _created,
        Detached = _detached,
        CreateFailures = _createFailures,
        DestroyFailures = _destroyFailures,
        TimedOut = _timedOut,
        Cancelled = _cancelled,
        Rejected = _rejected,
        Failed = _failed,
        Overdue = _overdue,
        Reclaimed = _reclaimed,
        StaleDisposes = Interlocked.Read(ref _staleDisposes),
        LastCreateError = _lastError,
        Destructions = _destroyed,
    };

    /// <summary>What a failing rental says.</summary>
    internal PoolReport Report(PoolSection<T> section)
    {
        ResourceSlot<T>[] oldest = [.. _slots.Where(s => s.State == SlotState.Leased).OrderBy(s => s.LeasedAt).Take(MaxHolders)];
        return new PoolReport
        {
            Name = Core.Name,
            Key = Core.Key,
            Statistics = Snapshot(),
            OldestLeaseAge = oldest.Length == 0 ? null : TimeSpan.FromMilliseconds(section.Now - oldest[0].LeasedAt),
            LastCreateError = _lastError,
            Outage = OutageNow(section),
            Holders = [.. oldest.Where(s => s.Site is not null).Select(s => RentSite.Describe(s.Site!, _settings.LeakCapture))],
            Group = _group is null ? null : (_group.Used, _group.MaxTotal),
        };
    }

    /// <summary>The age in milliseconds of the oldest lease, and its call site; null when none is out.</summary>
    internal (long Age, StackTrace? Site)? FindOldest(PoolSection<T> section)
    {
        DrainAndDispatch(section); // what was returned to the hot slot is not out
        return _slots.Where(static s => s.State == SlotState.Leased).MinBy(static s => s.LeasedAt) is { } oldest
            ? (section.Now - oldest.LeasedAt, oldest.Site)
            : null;
    }

    /// <summary>
    /// How long creations have failed, and in how long the next one may begin; null when the last one succeeded.
    /// </summary>
    private (TimeSpan FailingFor, TimeSpan? NextIn)? OutageNow(PoolSection<T> section)
    {
        if (!_backoff.IsProbing)
        {
            return null;
        }

        long left = Math.Max(0, _backoff.Until(isWaitedFor: true) - section.Now);
        return (
            TimeSpan.FromMilliseconds(_backoff.FailingFor(section.Now)),
            Count(SlotState.Creating) > 0 ? null : TimeSpan.FromMilliseconds(left));
    }

    /// <summary>Looks for an invariant that does not hold.</summary>
    /// <returns>Which one, or null.</returns>
    internal string? FindFault(PoolSection<T> section)
    {
        DrainAndDispatch(section);
        ResourcePoolStatistics s = Snapshot();
        int[] states = new int[_counts.Length];
        foreach (ResourceSlot<T> slot in _slots)
        {
            states[(int)slot.State]++;
        }

        string? fault =
            _slots.Where((slot, i) => slot.Index != i || !slot.IsValid() || slot.State is SlotState.Free or SlotState.Abandoned).Any()
                ? "a slot's parts do not agree"
            : _slots.Distinct().Count() != _slots.Count ? "a slot is listed twice"
            : _free.Any(static slot => slot.State != SlotState.Free || !slot.IsValid()) ? "a free slot is not free"
            : _free.Any(static slot => slot.Asker is not null) ? "a free slot keeps the span of a rental"
            : Enumerable.Range((int)SlotState.Creating, (int)SlotState.Destroying).Any(i => states[i] != _counts[i])
                ? "the counts are not those of the slots"
            : !_idle.IsValid(static slot => slot.State == SlotState.Idle) || _idle.Count != s.Idle ? "the idle list is broken"
            : !_waiters.IsValid() ? "the queue is broken"
            : _group is null && section.Waiting != _waiters.Count ? "the timer keeps the pool alive for others than those that wait"
            : _backlog.FindFault() is { } broken ? broken
            : _slots.Count(static slot => slot.IsByRenter) != _byRenter ? "the renters at work are not those of the slots"
            : s.Total != s.Created - s.Destroyed - s.Detached ? "created - destroyed - detached is not the total"
            : Hot.IsOpen && (!_allowsHot || _waiters.Count > 0 || _isClosed) ? "the hot slot is open although a caller waits"
            : Hot.IsOpen && _isBeyond ? "the hot slot is open although the pool was made smaller"
            : Used > _max != _isBeyond ? "more places are taken than there are"
            : Live > _max && s.Idle > 0 ? "a pool that was made smaller keeps idle resources"
            : !_isClosed && IsStalled(section) ? "a caller waits for which nothing is done"
            : _isClosed && (s.Idle > 0 || s.Waiting > 0) ? "a closed pool has idle resources, or a caller waits"
            : null;
        return fault is null ? null : $"{fault}. {s}";
    }

    /// <summary>
    /// A lost wake-up: a caller waits, nothing is under way for it, something could be, and the timer is not about to see to it.
    /// </summary>
    private bool IsStalled(PoolSection<T> section) =>
        (_waiters.Count > InFlight && section.Due > section.Now && (_idle.Count > 0 || (_group is null && WantsCreation(section))))
        || (ParkedForNothing() is not null && (_backlog.ToDestroy > 0 || _backlog.FirstForParked(_createsInline) is not null));
}
