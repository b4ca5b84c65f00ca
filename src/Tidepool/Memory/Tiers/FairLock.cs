using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A lock for work that is done in many short turns. A turn that enters fairly lets the threads that already wait go first: one that has
/// fallen asleep at the lock would be woken into the next turn otherwise, and fall asleep again, until the whole work is over.
/// </summary>
/// <remarks>A lock of the runtime and a count of those who wait for it: two locked instructions more for each section. Reentrant.</remarks>
internal sealed class FairLock
{
    private readonly Lock _lock = new();
    private int _waiting;

    /// <summary>The number of threads between their arrival and their entry.</summary>
    internal int Waiting => Volatile.Read(ref _waiting);

    internal bool IsHeldByCurrentThread => _lock.IsHeldByCurrentThread;

    /// <summary>Enters; the end of the scope leaves.</summary>
    internal Lock.Scope Hold()
    {
        Interlocked.Increment(ref _waiting);
        try
        {
            return _lock.EnterScope();
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }

    /// <summary>Enters when no other thread waits, after some time in any case, and at once on the thread that holds the lock.</summary>
    /// <param name="timeLeft">
    /// How long the turns of a work may still wait for others. This one waits for a tenth of it at most, and subtracts what it waited.
    /// Without an end the work might never be over: the system may have taken the processor from a waiter, or more may come and come.
    /// </param>
    internal Lock.Scope HoldFairly(ref TimeSpan timeLeft)
    {
        if (Waiting > 0 && !IsHeldByCurrentThread)
        {
            long start = Stopwatch.GetTimestamp();
            TimeSpan waited = TimeSpan.Zero, most = new(timeLeft.Ticks / 10);
            var spin = default(SpinWait);
            while (Waiting > 0 && waited < most)
            {
                spin.SpinOnce(sleep1Threshold: -1);
                waited = Stopwatch.GetElapsedTime(start);
            }

            timeLeft -= waited;
        }

        return Hold();
    }
}
