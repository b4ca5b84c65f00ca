namespace Tidepool.Models.Scheduling;

/// <summary>
/// Always runs the thread of the highest priority, and lowers it at a few random steps: finds any fault of depth d with a probability of at
/// least 1 / (threads * steps^(d-1)) (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", 2010).
/// </summary>
public sealed class PriorityStrategy : IStrategy
{
    private readonly int[] _priorities;
    private readonly HashSet<int> _changes = [];
    private int _step;
    private int _lowest;

    public PriorityStrategy(Random random, int threads, int steps, int changes)
    {
        ArgumentNullException.ThrowIfNull(random);
        _priorities = Enumerable.Range(1, threads).ToArray();
        random.Shuffle(_priorities);
        while (_changes.Count < Math.Min(changes, steps))
        {
            _changes.Add(random.Next(steps));
        }
    }

    public int Choose(int current, IReadOnlyList<int> runnable, bool isWaiting)
    {
        if (current >= 0 && (isWaiting || _changes.Contains(_step)))
        {
            _priorities[current] = --_lowest;
        }

        _step++;
        return runnable.MaxBy(t => _priorities[t]);
    }
}
