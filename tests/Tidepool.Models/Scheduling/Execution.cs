namespace Tidepool.Models.Scheduling;

/// <summary>One run of a scenario.</summary>
public abstract class Execution
{
    /// <summary>What each thread does.</summary>
    public abstract IReadOnlyList<Action> Threads { get; }

    /// <summary>Checks the invariants once all threads have ended.</summary>
    /// <exception cref="ScheduleException">One is broken.</exception>
    public abstract void Check();

    /// <summary>Ends the world after a failure, when its invariants do not hold any more.</summary>
    public abstract void Abandon();
}
