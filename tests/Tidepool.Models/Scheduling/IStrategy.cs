namespace Tidepool.Models.Scheduling;

/// <summary>Decides at each point which thread goes on.</summary>
public interface IStrategy
{
    /// <summary>Picks one of <paramref name="runnable"/>.</summary>
    /// <param name="current">The thread that stands at a point, or -1 when it has just ended.</param>
    /// <param name="runnable">The threads that have not ended, in ascending order; at least one.</param>
    /// <param name="isWaiting">Whether the current thread waits for another one to move.</param>
    int Choose(int current, IReadOnlyList<int> runnable, bool isWaiting);
}
