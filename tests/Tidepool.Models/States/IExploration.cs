namespace Tidepool.Models.States;

/// <summary>Looks at every state of a pool; compiled anew with each planted bug, so the tests know it by this alone.</summary>
public interface IExploration
{
    /// <summary>Reaches every state within the bounds.</summary>
    /// <returns>How many states there are, and how many moves the longest way has.</returns>
    /// <exception cref="Scheduling.ScheduleException">A state breaks an invariant, or a rental is never served from it.</exception>
    (int States, int Moves) Explore(Bounds bounds);
}
