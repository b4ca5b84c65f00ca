using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// One pool, or one key of a keyed pool, as renters and the owner call it. Everything is decided by <see cref="PoolState{T}"/> in sections
/// of the <see cref="PoolGate{T}"/>; the policy is called by <see cref="PoolRunner{T}"/>. docs/design/resources.md describes it.
/// </summary>
internal sealed partial class ResourceCore<T> : IMeteredResources, ILivePool
    where T : class
{
    internal readonly PoolGate<T> Gate;
    internal readonly PoolTimer Timer;
    internal readonly ResourceClock Clock;
    internal readonly PoolState<T> State;
    internal readonly PoolRunner<T> Runner;

    private readonly HotSlot<ResourceSlot<T>> _hot;
    private readonly ResourceSettings _settings;
    private readonly ResourceGroup<T>? _group;
    private readonly ResourceMeter _meter;

    private readonly ResetMode _resetMode;
    private readonly bool _looksForBroken;

    /// <summary>The policy has nothing to do when a resource is returned.</summary>
    private readonly bool _leavesAlone;
    private readonly bool _isSystemTime;

    /// <summary>A reset in the background that began without a wait would need a thread for its end.</summary>
    private readonly bool _waitsInReset;
    private readonly long _freshFor;
    private readonly long _soonestIdleDue;
    private readonly bool _resetsLater;
    private volatile bool _hasParked; // a thread has parked for a rental

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
        Policy = policy;
        PoolName = group?.PoolName ?? PoolName.Take(settings.Name, typeof(T).Name);
        KeyValue = key;
        Key = key is null ? string.Empty : PoolName.KeyText(key);
        Series = new ResourceSeries(PoolName.Text, group?.Labels.Of(Key));
        _group = group;
        PolicyTraits traits = policy.Traits;
        _looksForBroken = traits.LooksForBroken;
        _resetMode = traits.Resets ? settings.ResetMode : ResetMode.None;
        _waitsInReset = _resetMode == ResetMode.Background && traits.WaitsInReset;
        _leavesAlone = !_looksForBroken && _resetMode is (ResetMode.None or ResetMode.OnRent);
        _freshFor = Math.Min(traits.Validates ? settings.ValidateAfterIdle : ResourceSettings.NoLimit, ResourceSettings.NoLimit / 2);
        _resetsLater = traits.ResetsLater && _resetMode is ResetMode.OnReturn or ResetMode.Background;
        _soonestIdleDue = Math.Min(settings.IdleTimeout, settings.KeepAliveAfter(hasResetPending: _resetsLater));
        Gate = group?.Gate ?? new PoolGate<T>(settings.TimeProvider, this, static core => ((ResourceCore<T>)core).OnTimer());
        Timer = Gate.Timer;
        Clock = Gate.Clock;
        _isSystemTime = Clock.IsSystem;
        _meter = settings.Meter;
        State = new PoolState<T>(this, settings, traits, _resetMode, maxSize, group);
        _hot = State.Hot;
        Runner = new PoolRunner<T>(this, policy, settings);
        if (group is null)
        {
            _meter.Add(this);
            LivePools.Add(this);
        }

        if (settings.MinSize > 0 || settings.MinIdle > 0)
        {
            Dispatch();
        }
    }

    public string Name => PoolName.Text;

    /// <summary>The name as the registry of live pools has it.</summary>
    public PoolName PoolName { get; }

    /// <summary>The key as messages show it; empty in a pool without keys.</summary>
    internal string Key { get; }

    /// <summary>The pool and the key as metrics and spans have them.</summary>
    internal ResourceSeries Series { get; }

    /// <summary>The key itself; null in a pool without keys.</summary>
    internal object? KeyValue { get; }

    internal ResourcePolicy<T> Policy { get; }

    internal TimeSpan RentTimeout => ResourceSettings.TimeOf(_settings.RentTimeout);

    /// <summary>The generation of what is created now; each clear begins another one.</summary>
    internal int Generation => State.Generation;

    /// <summary>The pool's clock; <see cref="ResourceClock.Now"/> without a look at the clock.</summary>
    private long Now => _isSystemTime ? Environment.TickCount64 : NowOfClock();

    /// <summary>Whether a thread has parked for a rental of this pool, of any key.</summary>
    private bool HasParked => _hasParked || _group is { HasParked: true };

    internal ResourcePoolStatistics GetStatistics()
    {
        using PoolSection<T> section = Gate.Enter();
        return State.GetStatistics(section);
    }

    PoolInfo ILivePool.Describe() => new(Name, _settings.Kind) { ResourceStatistics = GetStatistics() };

    OldestLease? ILivePool.DescribeOldest() => DescribeOldest();

    /// <summary>The oldest lease that is out. Its call site becomes text outside of the lock: that may read symbols.</summary>
    internal OldestLease? DescribeOldest()
    {
        (long Age, StackTrace? Site)? oldest;
        using (PoolSection<T> section = Gate.Enter())
        {
            oldest = State.FindOldest(section);
        }

        return oldest is not var (age, site)
            ? null
            : new OldestLease(age, site is null ? string.Empty : RentSite.Describe(site, _settings.LeakCapture));
    }

    /// <summary>Checks every invariant of the state at this moment.</summary>
    /// <exception cref="InvalidOperationException">One does not hold.</exception>
    internal void Validate()
    {
        using PoolSection<T> section = Gate.Enter();
        if (State.FindFault(section) is { } fault)
        {
            throw new InvalidOperationException($"Pool '{Name}': {fault}");
        }
    }

    internal Task ClearAsync() => Clear(only: null)!;

    /// <summary>
    /// Clears, unless the pool has been cleared since this generation, or was shut down: of many that report the same fault one clears.
    /// </summary>
    internal void ClearOnce(int generation) => Clear(generation);

    private Task? Clear(int? only)
    {
        using PoolSection<T> section = Gate.Enter("clear");
        return State.Clear(only, section);
    }

    internal Task RenewAsync(TimeSpan over)
    {
        long interval = ResourceSettings.Milliseconds(over, nameof(over), 1);
        if (interval == ResourceSettings.NoLimit)
        {
            throw new ArgumentOutOfRangeException(nameof(over), over, "The interval of a renewal is finite.");
        }

        using PoolSection<T> section = Gate.Enter();
        return State.Renew(interval, section);
    }

    internal void Resize(int min, int max)
    {
        ResourceSettings.CheckSizes(min, max);
        if (_settings.MinIdle > max)
        {
            throw new ArgumentOutOfRangeException(nameof(max), max, $"max is {max}; it may not be below MinIdle ({_settings.MinIdle}).");
        }

        using PoolSection<T> section = Gate.Enter("resize");
        State.Resize(min, max, section);
    }

    internal Task WarmUpAsync(int count, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return Task.FromCanceled(cancellation);
        }

        Task done;
        using (PoolSection<T> section = Gate.Enter())
        {
            done = State.WarmUp(count, section);
        }

        return cancellation.CanBeCanceled ? done.WaitAsync(cancellation) : done;
    }

    /// <summary>Refuses rentals from now on and ends everything; may be called again.</summary>
    /// <param name="drained">Ends when no lease is out.</param>
    /// <param name="ended">Ends when no resource lives and no timer runs.</param>
    internal void Close(out Task drained, out Task ended)
    {
        (drained, ended) = (State.Drained, State.Ended);
        using PoolSection<T> section = Gate.Enter("close");
        State.Close(section);
    }

    /// <summary>Shuts down and waits: for leases as long as the grace, then for what ends without them.</summary>
    internal async Task<bool> ShutdownAsync(TimeSpan grace)
    {
        Close(out Task drained, out Task ended);
        if (!await IsDoneWithin(drained, grace, Clock.Provider).ConfigureAwait(false))
        {
            return false;
        }

        await ended.ConfigureAwait(false);
        return true;
    }

    internal static async Task<bool> IsDoneWithin(Task task, TimeSpan time, TimeProvider provider)
    {
        if (!task.IsCompleted && time != TimeSpan.Zero)
        {
            using var over = new CancellationTokenSource();
            await Task.WhenAny(task, Task.Delay(time, provider, over.Token)).ConfigureAwait(false);
            await over.CancelAsync().ConfigureAwait(false);
        }

        return task.IsCompleted;
    }

    /// <summary>The pool has ended; its name and its timer, which keys share, are free.</summary>
    internal void FreeName()
    {
        if (_group is null)
        {
            Timer.Dispose();
            PoolName.Free();
        }
    }

    /// <summary>The timer has fired; that of a key is the timer of all keys.</summary>
    /// <param name="isLate">It should have, and a parked thread has noticed.</param>
    internal void OnTimer(bool isLate = false)
    {
        if (_group is not null)
        {
            _group.OnTimer(isLate);
            return;
        }

        using PoolSection<T> section = Gate.Enter("timer");
        isLate |= section.TimerFired();
        State.DoHousekeeping(isLate, section);
    }

    /// <summary>Reports a lease that is out for too long.</summary>
    internal void ReportOverdue(long id, long age, string site)
    {
        _meter.Leaked(Series);
        TidepoolEventSource.Log.LeaseOverdue(id, age, site, Name, Key);
        PoolDiagnostics.ReportLeak(PoolName, PoolReport.DescribeOverdue(Name, Key, age, site));
    }

    /// <summary>Tells listeners what has happened to the supply.</summary>
    internal void Report(ResourceReportKind kind, string message, Exception? failure = null) =>
        PoolDiagnostics.Report(PoolName, kind, Key, message, failure);

    IReadOnlyCollection<(string? Key, int Value)> IMeteredResources.Read(ResourceGauge gauge)
    {
        ResourcePoolStatistics s = GetStatistics();
        int value = gauge switch
        {
            ResourceGauge.Idle => s.Idle,
            ResourceGauge.Used => s.Leased + s.Checking,
            ResourceGauge.Waiting => s.Waiting,
            ResourceGauge.Max => State.IsClosed ? 0 : s.MaxSize,
            _ => State.IsClosed ? 0 : s.MinSize,
        };
        return [(null, value)];
    }

    [MethodImpl(MethodImplOptions.NoInlining)] // a rental reads the clock of the system
    private long NowOfClock() => Clock.Now;

    /// <summary>Begins what follows from a change that was made without it.</summary>
    private void Dispatch()
    {
        using PoolSection<T> section = Gate.Enter();
        State.Dispatch(section);
    }
}
