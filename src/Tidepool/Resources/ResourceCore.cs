using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The state machine of one pool: slots, the idle list, the queue of waiting rentals, counters. Everything is decided under one gate, which is
/// never held while code of a policy or a caller runs; what was decided is done by <see cref="Effects{T}"/> afterwards.
/// docs/design/resources.md describes it.
/// </summary>
internal sealed partial class ResourceCore<T> : IMeteredResources, IThreadPoolWorkItem
    where T : class
{
    private const int MaxHolders = 3;

    internal readonly PoolGate<T> Gate;
    internal readonly PoolTimer Timer;
    internal readonly ResourceClock Clock;

    private readonly ResourcePolicy<T> _policy;
    private readonly ResourceSettings _settings;
    private readonly ResourceGroup<T>? _group;
    private readonly Action<IThreadPoolWorkItem>? _executor;
    private readonly Func<double> _draw;
    private readonly ResourceMeter _meter;
    private readonly int[] _counts = new int[(int)SlotState.Abandoned + 1];
    private readonly List<ResourceSlot<T>> _slots = [];
    private readonly Stack<ResourceSlot<T>> _free = [];
    private readonly SlotList<T> _idle = new();
    private readonly Waiters<T> _waiters = new();

    private readonly ResetMode _resetMode;
    private readonly bool _looksForBroken;

    /// <summary>The policy has nothing to do when a resource is returned.</summary>
    private readonly bool _leavesAlone;
    private readonly bool _isSystemTime;

    /// <summary>A reset in the background that began without a wait would need a thread for its end.</summary>
    private readonly bool _waitsInReset;

    /// <summary>A parked thread may create.</summary>
    private readonly bool _createsHere;

    /// <summary>How long an idle resource needs no validation; for ever where the policy has none.</summary>
    private readonly long _validateAfterIdle;
    private readonly long _freshFor;
    private readonly long _soonestIdleDue;

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
    private int _warmTarget;
    private Backoff _backoff = new();
    private Exception? _lastError;

    private long _rented;
    private long _mostReturned;
    private long _created;
    private long _detached;
    private long _createFailures;
    private long _destroyFailures;
    private long _timedOut;
    private long _cancelled;
    private long _rejected;
    private long _overdue;
    private long _reclaimed;
    private long _staleDisposes;
    private DestroyCounts _destroyed;

    /// <summary>Makes the pool of a kind of resource.</summary>
    internal ResourceCore(ResourcePolicy<T> policy, ResourceSettings settings)
        : this(policy, settings, settings.MaxSize, null, null)
    {
    }

    /// <summary>Makes the pool of one key.</summary>
    /// <param name="policy">The key's policy.</param>
    /// <param name="settings">The options of each key.</param>
    /// <param name="maxSize">The most resources of this key.</param>
    /// <param name="group">What the keys share.</param>
    /// <param name="key">The key.</param>
    internal ResourceCore(ResourcePolicy<T> policy, ResourceSettings settings, int maxSize, ResourceGroup<T>? group, object? key)
    {
        _settings = settings;
        PoolName = group?.PoolName ?? PoolName.Take(settings.Name, typeof(T).Name);
        KeyValue = key;
        Key = key is null ? string.Empty : PoolName.KeyText(key);
        _policy = policy;
        _group = group;
        _executor = settings.Executor;
        _draw = settings.Draw;
        (_min, _max) = (settings.MinSize, maxSize);
        PolicyTraits traits = policy.Traits;
        _looksForBroken = traits.LooksForBroken;
        _resetMode = traits.Resets ? settings.ResetMode : ResetMode.None;
        _waitsInReset = _resetMode == ResetMode.Background && traits.WaitsInReset;
        _createsHere = traits.CreatesHere;
        _leavesAlone = !_looksForBroken && _resetMode is (ResetMode.None or ResetMode.OnRent);
        _hasHot = _resetMode != ResetMode.OnRent && settings.AllowsHot;
        _isHotOpen = _hasHot && group is null; // a key opens its own when somebody was served
        _validateAfterIdle = traits.Validates ? _settings.ValidateAfterIdle : ResourceSettings.Forever;
        _freshFor = Math.Min(_validateAfterIdle, ResourceSettings.Forever / 2);
        _soonestIdleDue = Math.Min(Math.Min(_settings.IdleTimeout, _settings.KeepAliveInterval), ResourceSettings.Forever / 2);
        Gate = group?.Gate ?? new PoolGate<T>(settings.TimeProvider, this, static core => ((ResourceCore<T>)core).OnTimer());
        Timer = Gate.Timer;
        Clock = Gate.Clock;
        _isSystemTime = Clock.IsSystem;
        _meter = settings.Meter;
        if (group is null)
        {
            _meter.Add(this);
        }

        if (_min > 0 || _settings.MinIdle > 0)
        {
            using (PoolSection<T> section = Gate.Enter())
            {
                Pump(section);
            }
        }
    }

    public string Name => PoolName.Text;

    /// <summary>The name as the registry of live pools has it.</summary>
    internal PoolName PoolName { get; }

    /// <summary>The key as messages show it; empty in a pool without keys.</summary>
    internal string Key { get; }

    /// <summary>The key itself; null in a pool without keys.</summary>
    internal object? KeyValue { get; }

    internal TimeSpan RentTimeout => _settings.RentTimeout == ResourceSettings.Forever ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(_settings.RentTimeout);

    /// <summary>A keyed pool has forgotten this key; under the gate.</summary>
    internal bool IsRemoved { get; private set; }

    /// <summary>Its place in the group's list of pools.</summary>
    internal int GroupIndex { get; set; } = -1;

    /// <summary>Whether it stands in the group's list of pools that wait for a place.</summary>
    internal bool IsBlocked { get; set; }

    /// <summary>How often another key's later rental was served while this one waited for a place.</summary>
    internal int PassedOver { get; set; }

    internal Waiter<T>? FirstWaiter => _waiters.First;

    /// <summary>The number of the last rental that was queued.</summary>
    internal long LastSequence => _group?.Sequence ?? _sequence;

    /// <summary>Nothing but idle resources, so that the key can be given up for another one. Under the gate.</summary>
    internal bool IsOnlyIdle => Used == Count(SlotState.Idle) && IsUnused;

    /// <summary>Nothing but a wait after a failed creation. Under the gate.</summary>
    internal bool IsOnlyBackingOff(long now) => Used == 0 && IsOnlyIdle && now < _backoff.Until(isWaitedFor: false);

    internal ResourcePolicy<T> Policy => _policy;

    internal int Waiting => _waiters.Count;

    /// <summary>For the checks of a group. Under the gate.</summary>
    internal (int Parked, int Unbegun, int Endings) Waits => (_waiters.Parked, _backlog.Count, _endings.Count);

    /// <summary>No rental waits or works. Under the gate.</summary>
    private bool IsUnused => _waiters.Count == 0 && _byRenter == 0 && _atWork == 0;

    /// <summary>Resources that renters hold or that are being checked. Under the gate.</summary>
    internal int InUse => Count(SlotState.Leased) + Count(SlotState.Checking);

    /// <summary>For the checks of a group. Under the gate.</summary>
    internal (int Idle, int Used) Places => (_idle.Count, Used);

    /// <summary>The pool's clock; <see cref="ResourceClock.Now"/> without a look at the clock.</summary>
    private long Now => _isSystemTime ? Environment.TickCount64 : Clock.Now;

    private int Live => Count(SlotState.Idle) + Count(SlotState.Leased) + Count(SlotState.Checking);

    /// <summary>Places that are taken.</summary>
    private int Used => Live + Count(SlotState.Creating) + Count(SlotState.Destroying);

    /// <summary>Resources that will soon serve whoever is first in the queue.</summary>
    private int InFlight => Count(SlotState.Checking) + Count(SlotState.Creating) - _byRenter;

    internal ResourcePoolStatistics GetStatistics()
    {
        ResourcePoolStatistics statistics;
        using PoolSection<T> section = Gate.Enter();
        SettleHot(section);
        statistics = Snapshot();
        return statistics;
    }

    /// <summary>Whether a leased resource may serve more renters at once: it is neither due nor broken, and was not cleared.</summary>
    /// <param name="slot">Its slot; its lease is out.</param>
    /// <param name="looks">Whether the policy is asked, too.</param>
    internal bool MayServe(ResourceSlot<T> slot, bool looks)
    {
        bool isGood;
        using (PoolSection<T> section = Gate.Enter())
        {
            isGood = !slot.IsMarked && Verdict(slot, section) is null;
        }

        return isGood && (!looks || !IsBroken(slot.Resource!));
    }

    /// <summary>The key was not let in, or makes room for another. Under the gate.</summary>
    internal void Remove() => IsRemoved = true;

    private int Count(SlotState state) => _counts[(int)state];

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Move(ResourceSlot<T> slot, SlotState to)
    {
        Gate.AssertHeld();
        int[] counts = _counts;
        counts[(int)slot.State]--;
        counts[(int)to]++;
        slot.State = to;
    }

    /// <summary>Takes a free place for a creation.</summary>
    private ResourceSlot<T> Reserve()
    {
        Gate.AssertHeld();
        if (!_free.TryPop(out ResourceSlot<T>? slot))
        {
            slot = new ResourceSlot<T>(this);
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
        slot.DueAt = ResourceSettings.Forever;
        slot.Site = null;
        slot.IsMarked = slot.IsDirty = false;
        _rented += slot.HotUses;
        slot.HotUses = 0;
        if (slot.Clearing is { } clearing)
        {
            slot.Clearing = null;
            if (--clearing.Left == 0)
            {
                section.Then(clearing.Complete);
            }
        }

        if (slot.ForWhom is { } core)
        {
            slot.ForWhom = null;
            core._steals--;
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
        slot.DueAt = ResourceSettings.After(section.Now, slot.State == SlotState.Creating ? _settings.CreateTimeout : _settings.PolicyTimeout);
        slot.IsSpared = false;
        section.WakeAt(slot.DueAt);
    }

    /// <summary>Whether somebody's code of the policy calls the resource broken; an exception says yes.</summary>
    private bool IsBroken(T resource)
    {
        if (!_looksForBroken)
        {
            return false;
        }

        try
        {
            return _policy.IsBroken(resource);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("IsBroken", e.ToString(), Name, Key);
            return true;
        }
    }

    /// <summary>All counters at one moment. Under the gate.</summary>
    private ResourcePoolStatistics Snapshot()
    {
        Gate.AssertHeld();
        long rented = _rented;
        foreach (ResourceSlot<T> slot in _slots)
        {
            rented += Volatile.Read(ref slot.HotUses);
        }

        // A rental that has just taken the hot resource is leased and not yet counted: it was not returned before it was rented.
        _mostReturned = Math.Max(_mostReturned, rented - Count(SlotState.Leased));
        return Snapshot(_mostReturned + Count(SlotState.Leased), _mostReturned);
    }

    private ResourcePoolStatistics Snapshot(long rented, long returned) => new()
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
        Created = _created,
        Detached = _detached,
        CreateFailures = _createFailures,
        DestroyFailures = _destroyFailures,
        TimedOut = _timedOut,
        Cancelled = _cancelled,
        Rejected = _rejected,
        Overdue = _overdue,
        Reclaimed = _reclaimed,
        StaleDisposes = Interlocked.Read(ref _staleDisposes),
        Destructions = _destroyed,
    };

    /// <summary>What a failing rental says. Under the gate.</summary>
    internal PoolReport Report(PoolSection<T> section)
    {
        ResourceSlot<T>[] oldest = [.. _slots.Where(s => s.State == SlotState.Leased).OrderBy(s => s.LeasedAt).Take(MaxHolders)];
        return new PoolReport
        {
            Name = Name,
            Key = Key,
            Statistics = Snapshot(),
            OldestLeaseAge = oldest.Length == 0 ? null : TimeSpan.FromMilliseconds(section.Now - oldest[0].LeasedAt),
            LastCreateError = _lastError,
            Outage = OutageNow(section),
            Holders = [.. oldest.Where(s => s.Site is not null).Select(s => RentSite.Describe(s.Site!, _settings.LeakCapture))],
            Group = _group is null ? null : (_group.Used, _group.MaxTotal),
        };
    }

    /// <summary>How long creations have failed, and in how long the next one may begin; null when the last one succeeded. Under the gate.</summary>
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

    int IMeteredResources.Read(ResourceGauge gauge)
    {
        ResourcePoolStatistics s = GetStatistics();
        return gauge switch
        {
            ResourceGauge.Idle => s.Idle,
            ResourceGauge.Used => s.Leased + s.Checking,
            ResourceGauge.Waiting => s.Waiting,
            ResourceGauge.Max => _isClosed ? 0 : s.MaxSize,
            _ => _isClosed ? 0 : s.MinSize,
        };
    }

    private StackTrace? CaptureSite() => _settings.LeakCapture == LeakCapture.None ? null : RentSite.Capture();
}
