using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The one timer of a pool, or of all keys of a keyed pool. It holds its pool weakly unless a caller waits, so a pool that was dropped is
/// collected; it is set to the next moment at which something is due, and not at all when nothing is.
/// </summary>
internal sealed class PoolTimer : IDisposable
{
    /// <summary>More than the system's timers are ever late, in milliseconds.</summary>
    private const long Late = 500;

    private readonly Lock _setting = new();
    private readonly ITimer _timer;
    private readonly ResourceClock _clock;
    private readonly Target _target;
    private long _due = ResourceSettings.NoLimit;
    private bool _isDisposed;

    internal PoolTimer(ResourceClock clock, object owner, Action<object> fire)
    {
        _clock = clock;
        _target = new Target(owner, fire);
        bool isRestored = ExecutionContext.IsFlowSuppressed();
        if (!isRestored)
        {
            ExecutionContext.SuppressFlow();
        }

        try
        {
            _timer = clock.Provider.CreateTimer(
                static state => ((Target)state!).Fire(), _target, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
        finally
        {
            if (!isRestored)
            {
                ExecutionContext.RestoreFlow();
            }
        }
    }

    /// <summary>What the timer waits for.</summary>
    internal long Due => Volatile.Read(ref _due);

    /// <summary>Notes that something is due. Under the gate.</summary>
    /// <returns>Whether that is earlier than anything else, so that <see cref="Apply"/> must follow.</returns>
    internal bool Request(long due)
    {
        if (due >= _due)
        {
            return false;
        }

        Volatile.Write(ref _due, due);
        return true;
    }

    /// <summary>Notes that the timer has fired: nothing is due until a section asks. Under the gate.</summary>
    /// <returns>Whether that is late: the thread pool had no thread for it, or the process was stopped.</returns>
    internal bool Fired(long now)
    {
        long due = _due;
        Volatile.Write(ref _due, ResourceSettings.NoLimit);
        return due != ResourceSettings.NoLimit && now - due > Late;
    }

    /// <summary>Keeps the pool alive, or no longer: a caller waits. Under the gate.</summary>
    internal void Hold(bool isHeld) => _target.Hold(isHeld);

    /// <summary>Sets the timer to what is due next. Not under the gate: the timer may be code of a caller.</summary>
    internal void Apply()
    {
        Interrupts.Enter(_setting);
        try
        {
            long due = Volatile.Read(ref _due);
            if (!_isDisposed)
            {
                TimeSpan time = due == ResourceSettings.NoLimit
                    ? Timeout.InfiniteTimeSpan
                    : TimeSpan.FromMilliseconds(Math.Clamp(due - _clock.Now, 1, uint.MaxValue - 1));
                _timer.Change(time, Timeout.InfiniteTimeSpan);
            }
        }
        finally
        {
            _setting.Exit();
        }
    }

    public void Dispose()
    {
        lock (_setting)
        {
            _isDisposed = true;
            _timer.Dispose();
        }
    }

    private sealed class Target(object owner, Action<object> fire)
    {
        private readonly WeakReference _owner = new(owner);
        private object? _held;

        internal void Hold(bool isHeld) => _held = isHeld ? _owner.Target : null;

        internal void Fire()
        {
            if (_owner.Target is { } owner)
            {
                fire(owner);
            }
        }
    }
}

/// <summary>The pool's clock in milliseconds: monotonic, so a clock of the wall that jumps changes nothing.</summary>
internal sealed class ResourceClock(TimeProvider provider)
{
    private readonly long _start = provider.GetTimestamp();

    internal TimeProvider Provider => provider;

    /// <summary>Whether real time passes, so that a thread may wait by itself.</summary>
    internal bool IsSystem { get; } = ReferenceEquals(provider, TimeProvider.System);

    internal long Now => IsSystem ? Environment.TickCount64 : NowOfProvider();

    [MethodImpl(MethodImplOptions.NoInlining)] // a rental reads the clock of the system
    private long NowOfProvider() => (long)provider.GetElapsedTime(_start).TotalMilliseconds;
}
