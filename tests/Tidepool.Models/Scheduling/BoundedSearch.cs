namespace Tidepool.Models.Scheduling;

/// <summary>
/// Every schedule with at most a given number of preemptions, one after another: depth-first over the choices, each run repeating the
/// choices of the last one up to the deepest that has an untried alternative.
/// </summary>
public sealed class BoundedSearch(int preemptions) : IStrategy
{
    private readonly List<(int Chosen, int Options)> _path = [];
    private int _depth;
    private int _used;

    public int Choose(int current, IReadOnlyList<int> runnable, bool isWaiting)
    {
        ArgumentNullException.ThrowIfNull(runnable);
        if (isWaiting)
        {
            // In turn, without alternatives: two threads that wait could otherwise call on each other without end.
            return runnable.FirstOrDefault(t => t > current, runnable[0]);
        }

        List<int> options = current < 0
            ? runnable.ToList()
            : _used < preemptions ? [current, .. runnable.Where(t => t != current)] : [current];

        if (_depth == _path.Count)
        {
            _path.Add((0, options.Count));
        }

        int choice = options[Math.Min(_path[_depth].Chosen, options.Count - 1)];
        _depth++;
        _used += current < 0 || choice == current ? 0 : 1;
        return choice;
    }

    /// <summary>Turns to the next schedule.</summary>
    /// <returns>False when all were tried.</returns>
    public bool TryNext()
    {
        _path.RemoveRange(_depth, _path.Count - _depth);
        while (_path.Count > 0 && _path[^1].Chosen + 1 >= _path[^1].Options)
        {
            _path.RemoveAt(_path.Count - 1);
        }

        (_depth, _used) = (0, 0);
        if (_path.Count == 0)
        {
            return false;
        }

        _path[^1] = (_path[^1].Chosen + 1, _path[^1].Options);
        return true;
    }
}
