using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Holds the gate of a pool, or of all keys of a keyed pool: the only way to what the gate guards.</summary>
/// <remarks>
/// Made by <see cref="PoolGate{T}.Enter(string)"/> in a <c>using</c>, which a test of the source enforces, and handed down to whatever
/// needs the gate: a method that takes a section runs under the gate, at the section's time, and adds to its effects. Disposing it leaves
/// the gate and then runs them.
/// </remarks>
internal readonly ref struct PoolSection<T>
    where T : class
{
    private readonly PoolGate<T> _gate;

    internal PoolSection(PoolGate<T> gate, long now)
    {
        _gate = gate;
        Now = now;
    }

    /// <summary>The time in milliseconds, read before the gate was entered.</summary>
    internal long Now { get; }

    /// <summary>Whether checks begin on this thread, which is the renter's own; otherwise on the thread pool.</summary>
    internal bool ChecksInline => Effects.ChecksInline;

    private ref Effects<T> Effects
    {
        get
        {
            _gate.AssertHeld();
            return ref _gate.Effects;
        }
    }

    internal void BeginChecksInline() => Effects.ChecksInline = true;

    /// <summary>Has the timer fire at this moment, unless it fires before.</summary>
    internal void WakeAt(long due) => Effects.SetsTimer |= _gate.Timer.Request(due);

    /// <summary>When the timer will fire.</summary>
    internal long Due => _gate.Timer.Due;

    /// <summary>Notes that the timer has fired: nothing is due until a section asks, and it is set anew afterwards.</summary>
    /// <returns>Whether it came late.</returns>
    internal bool TimerFired()
    {
        Effects.SetsTimer = true;
        return _gate.Timer.Fired(Now);
    }

    /// <summary>Counts one more rental that waits, or one less: the timer keeps the pool alive for them.</summary>
    internal void CountWaiting(int change)
    {
        _gate.AssertHeld();
        _gate.CountWaiting(change);
    }

    /// <summary>How many rentals the timer keeps the pool alive for.</summary>
    internal int Waiting => _gate.Waiting;

    /// <summary>Fails where the gate is not held, in debug and model builds.</summary>
    internal void AssertHeld() => _gate.AssertHeld();

    /// <summary>Has a caller notified of how its rental ended.</summary>
    internal void Notify(Waiter<T> waiter) => Effects.Notify(waiter);

    /// <summary>Has a check begun on this thread.</summary>
    internal void Check(ResourceSlot<T> slot) => Effects.Check(slot);

    /// <summary>Asks the thread pool for one more thread for the backlog of a pool.</summary>
    internal void RequestThread(ResourceCore<T> core) => Effects.RequestThread(core);

    /// <summary>Has anything else done.</summary>
    internal void Then(Action action) => Effects.Then(action);

    /// <summary>Gives what failing rentals of a pool say: one report for all of one section, and another one for each key.</summary>
    internal PoolReport ReportOf(PoolState<T> pool) => Effects.ReportOf(pool, this);

    /// <summary>Leaves the gate and runs the effects.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose() => _gate.Leave();
}

/// <summary>
/// Guards what a pool, or all keys of a keyed pool, decide: a lock that is held for some nanoseconds, and what follows from its section.
/// </summary>
internal sealed class PoolGate<T>
    where T : class
{
    private readonly Lock _lock = new();

    /// <summary>What the section that holds the lock has decided so far.</summary>
    internal Effects<T> Effects;

    /// <summary>Makes a gate with a timer that calls its owner, which it does not keep alive.</summary>
    internal PoolGate(TimeProvider provider, object owner, Action<object> onTimer)
    {
        Clock = new ResourceClock(provider);
        Timer = new PoolTimer(Clock, owner, onTimer);
    }

    internal ResourceClock Clock { get; }

    internal PoolTimer Timer { get; }

    /// <summary>How many rentals wait, as counted by <see cref="CountWaiting"/>.</summary>
    internal int Waiting { get; private set; }

    internal bool IsHeldByCurrentThread => _lock.IsHeldByCurrentThread;

    /// <summary>Enters the gate.</summary>
    /// <param name="place">The name of this place for schedules.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal PoolSection<T> Enter(string place)
    {
        long now = Clock.Now; // not under the lock: the clock may be code of a caller
        Schedule.Point(place);
        return EnterAt(now);
    }

    /// <summary>Enters the gate where schedules need no place of its own.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal PoolSection<T> Enter() => EnterAt(Clock.Now);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private PoolSection<T> EnterAt(long now)
    {
        Assert(!_lock.IsHeldByCurrentThread, "is within a section already");
        if (!_lock.TryEnter())
        {
            Interrupts.Enter(_lock);
        }

        return new PoolSection<T>(this, now);
    }

    /// <summary>For <see cref="PoolSection{T}.CountWaiting"/> alone. Counted here, on a line that each section writes anyway.</summary>
    internal void CountWaiting(int change)
    {
        bool was = Waiting > 0;
        Waiting += change;
        if (was != Waiting > 0)
        {
            Timer.Hold(!was);
        }
    }

    /// <summary>For <see cref="PoolSection{T}.Dispose"/> alone.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Leave()
    {
        if (!Effects.TryTakeDone(out Waiter<T>? done))
        {
            LeaveSlow();
            return;
        }

        _lock.Exit();
        if (done is not null)
        {
            Effects<T>.NotifyAll(done);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LeaveSlow()
    {
        Effects<T> effects = Effects;
        Effects = default;
        _lock.Exit();
        effects.Run(Timer);
    }

    /// <summary>Fails a method that runs without the gate, in debug and model builds.</summary>
    [Conditional("DEBUG")]
    [Conditional("TIDEPOOL_MODEL")]
    internal void AssertHeld([CallerMemberName] string method = "") =>
        Assert(_lock.IsHeldByCurrentThread, "runs without the gate of its pool", method);

    [Conditional("DEBUG")]
    [Conditional("TIDEPOOL_MODEL")]
    private static void Assert(bool holds, string fault, [CallerMemberName] string method = "")
    {
        if (!holds)
        {
            throw new InvalidOperationException($"{method} {fault}.");
        }
    }
}

/// <summary>Enters locks whatever interrupts the thread meanwhile.</summary>
internal static class Interrupts
{
    /// <summary>
    /// Waits for a lock; an interrupt is kept for the thread's next wait. Thrown here, it would lose a lease that is being returned, or a
    /// resource that was created.
    /// </summary>
    internal static void Enter(Lock gate)
    {
        bool wasInterrupted = false;
        while (true)
        {
            try
            {
                gate.Enter();
                break;
            }
            catch (ThreadInterruptedException)
            {
                wasInterrupted = true;
            }
        }

        if (wasInterrupted)
        {
            Thread.CurrentThread.Interrupt();
        }
    }
}
