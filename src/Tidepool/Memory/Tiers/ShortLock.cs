using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A lock for sections of a few instructions: one locked instruction to take it, a plain store to leave it. A waiting thread spins, then
/// yields, then sleeps, so that it does not burn a processor while the holder is preempted.
/// </summary>
/// <remarks>
/// Taking it is a full barrier, leaving it a release: what a section wrote is seen by the next one. It is not reentrant, and no foreign
/// code and no wait may be inside. A mutable struct: never a read-only field, and never copied.
/// </remarks>
internal struct ShortLock
{
    private int _isHeld;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Enter()
    {
        if (Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0)
        {
            Wait();
        }
    }

    /// <summary>Enters if no other thread is inside.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryEnter() => Interlocked.CompareExchange(ref _isHeld, 1, 0) == 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Exit() => Volatile.Write(ref _isHeld, 0);

    /// <summary>Enters; the end of the scope leaves, whatever is thrown in it.</summary>
    [UnscopedRef]
    internal Section Hold()
    {
        Enter();
        return new Section(ref this);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Wait()
    {
        var spin = default(SpinWait);
        do
        {
            Schedule.Spin(ref spin);
        }
        while (Volatile.Read(ref _isHeld) != 0 || Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0);
    }

    /// <summary>The time in which the lock is held.</summary>
    internal readonly ref struct Section
    {
        private readonly ref ShortLock _gate;

        internal Section(ref ShortLock gate) => _gate = ref gate;

        public void Dispose() => _gate.Exit();
    }
}
