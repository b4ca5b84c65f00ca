using Tidepool.Models.Scheduling;

namespace Tidepool.Models.States;

/// <summary>Reaches every state of a small pool, breadth first: each state anew, by the moves that lead to it.</summary>
internal sealed class StateExploration : IExploration
{
    private const int Most = 60_000;

    public (int States, int Moves) Explore(Bounds bounds)
    {
        var pool = new StatePool(bounds);
        var first = new StateWorld(pool, bounds);
        var seen = new HashSet<string> { first.Describe() };
        var open = new Queue<Move[]>([[]]);
        int longest = 0;
        while (open.TryDequeue(out Move[]? path))
        {
            if (seen.Count > Most)
            {
                throw new ScheduleException($"more than {Most} states: the bounds are too wide");
            }

            longest = path.Length;
            foreach (Move move in Reach(pool, bounds, path).Moves())
            {
                Move[] next = [.. path, move];
                StateWorld world = Reach(pool, bounds, next);
                if (seen.Add(world.Describe()))
                {
                    open.Enqueue(next);
                    Try(world, next, static w => w.Validate());
                    Try(world, next, static w => w.Drain());
                }
            }
        }

        return (seen.Count, longest);
    }

    private static StateWorld Reach(StatePool pool, Bounds bounds, Move[] path)
    {
        var world = new StateWorld(pool, bounds);
        foreach (Move move in path)
        {
            Try(world, path, w => w.Do(move));
        }

        return world;
    }

    private static void Try(StateWorld world, Move[] path, Action<StateWorld> action)
    {
        try
        {
            action(world);
        }
        catch (Exception e) when (e is ScheduleException or InvalidOperationException)
        {
            throw new ScheduleException($"{e.Message}\nafter {string.Join(", ", path)}\n{world.Describe()}");
        }
    }
}
