using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A lock for work that is done in many short turns. A turn that enters fairly lets the threads that already wait go first: one that has
/// fallen asleep at the lock would be woken into the next turn otherwise, and fall asleep again, until the whole work is over.
/// </summary>
/// <remarks>A lock of the runtime and a count of those who wait for it: two locked instructions more for each section. Reentrant.</remarks>
/// <param name="timeout">
/// How long a fair turn waits for others at most: the system may have taken the processor from one of them, or more may come and come.
/// </param>
internal sealed class FairLock(TimeSpan timeout)
{
    private readonly Lock _lock = new();
    private int _waiting;

    /// <summary>The number of threads between their arrival and their entry.</summary>
    internal int Waiting => Volatile.Read(ref _waiting);

    internal bool IsHeldByCurrentThread => _lock.IsHeldByCurrentThread;

    /// <summary>Enters; the end of the scope leaves.</summary>
    /// <param name="isFair">Whether to enter only when no other thread waits, or after the timeout.</param>
    internal Lock.Scope Hold(bool isFair = false)
    {
        if (isFair && !IsHeldByCurrentThread)
        {
            long start = Stopwatch.GetTimestamp();
            var spin = default(SpinWait);
            while (Waiting > 0 && Stopwatch.GetElapsedTime(start) < timeout)
            {
                spin.SpinOnce(sleep1Threshold: -1);
            }
        }

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
}
