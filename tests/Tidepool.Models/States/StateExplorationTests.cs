using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.States;

/// <summary>Every state that a small pool can reach: none breaks an invariant, and from each of them every caller is served.</summary>
public class StateExplorationTests(ITestOutputHelper output)
{
    private const int Most = 60_000;

    public static TheoryData<string> Names => [.. Explorations.Keys];

    /// <summary>What is explored, and how many states there are: another number means other behaviour, which is worth a look.</summary>
    private static Dictionary<string, (Bounds Bounds, int States)> Explorations { get; } = new()
    {
        ["two slots, four rentals that await and give up"] = (new() { Slots = 2, Waiting = 4, Cancels = 2, Bad = 1 }, 0),
        ["three slots, three rentals, of which one parks"] = (new() { Slots = 3, Waiting = 3, Parked = 1, Cancels = 1, Bad = 1 }, 0),
        ["two slots, validation, bad resources"] = (new() { Slots = 2, Waiting = 3, Bad = 2, Validates = true }, 0),
        ["two slots, parked threads"] = (new() { Slots = 2, Waiting = 3, Parked = 2, Bad = 1, Cancels = 1, Validates = true }, 0),
        ["two slots, creations that fail and hang"] = (new() { Slots = 2, Waiting = 3, Parked = 1, Failures = 2, Ticks = 3 }, 0),
        ["two slots, changes of the owner"] = (new() { Slots = 2, Waiting = 3, Parked = 1, Changes = 2 }, 0),
        ["two slots, idle and life times"] = (new() { Slots = 2, Waiting = 3, Ticks = 4, KeepsWarm = true, Expires = true }, 0),
    };

    [Theory]
    [MemberData(nameof(Names))]
    public void No_state_breaks_an_invariant(string name)
    {
        (Bounds bounds, int states) = Explorations[name];
        Assert.Equal(states, Explore(bounds));
    }

    /// <summary>Breadth first: each state is reached anew by the moves that lead to it.</summary>
    private int Explore(Bounds bounds)
    {
        var pool = new StatePool(bounds);
        var first = new StateWorld(pool, bounds);
        var seen = new HashSet<string> { first.Describe() };
        var open = new Queue<Move[]>([[]]);
        int longest = 0;
        while (open.TryDequeue(out Move[]? path))
        {
            Assert.True(seen.Count <= Most, $"more than {Most} states: the bounds are too wide");
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

        output.WriteLine($"{seen.Count} states, at most {longest} moves from the first");
        return seen.Count;
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
