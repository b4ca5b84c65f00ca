using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Threads rent and return objects that must rest, their own and each other's, often enough to use every place to rest, while magazines are
/// trimmed and closed in some schedules and left alone in the others. In some the fast look-up knows no thread.
/// </summary>
internal sealed class RestScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        int visitRate = random.Next(3) * 5;
        var world = new RestWorld(Threads, visitRate > 0, isSlow: random.Next(4) == 0);
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            int depth = random.Next(1, 12);
            int steps = random.Next(6, 20);
            (int What, int Which)[] program = [.. Enumerable.Range(0, steps).Select(_ => (random.Next(100), random.Next(1000)))];
            threads.Add(() => Run(world, thread, program, depth, visitRate));
        }

        return new RestExecution(world, threads);
    }

    private static void Run(RestWorld world, int thread, (int What, int Which)[] program, int depth, int visitRate)
    {
        for (int i = 0; i < depth; i++)
        {
            world.Rent(thread);
        }

        for (int i = 0; i < depth; i++)
        {
            world.Return(thread, i);
        }

        foreach ((int what, int which) in program)
        {
            if (what < visitRate)
            {
                world.Visit(thread, which);
            }
            else if (which % 2 == 0)
            {
                world.Rent(thread);
            }
            else
            {
                world.Return(thread, which);
            }
        }
    }

    private sealed class RestExecution(RestWorld world, IReadOnlyList<Action> threads) : Execution
    {
        public override IReadOnlyList<Action> Threads => threads;

        public override void Check() => world.Check();

        public override void Abandon() => world.Abandon();

        public override string ToString() => world.ToString();
    }
}
