namespace Tidepool;

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
