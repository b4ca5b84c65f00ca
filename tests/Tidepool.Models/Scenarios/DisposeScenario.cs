using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>A pool is disposed while two threads rent from it, return at home and to each other, and exchange magazines.</summary>
internal sealed class DisposeScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads);
        int[] first = NewProgram(random);
        int[] second = NewProgram(random);
        int before = random.Next(4);
        return new WorldExecution(world,
        [
            () => Array.ForEach(first, s => Step(world, 0, s)),
            () => Array.ForEach(second, s => Step(world, 1, s)),
            () =>
            {
                for (int turns = 0; turns < 6 && world.Rentals.Count < before; turns++)
                {
                    Schedule.Point("spin");
                }

                world.Dispose(2);
            },
        ]);
    }

    private static int[] NewProgram(Random random) => Enumerable.Range(0, random.Next(4, 12)).Select(_ => random.Next(1000)).ToArray();

    private static void Step(World world, int thread, int step)
    {
        List<Rental> open = world.Rentals.Where(static r => r.Begun == 0).ToList();
        if (step % 2 == 0 || open.Count == 0)
        {
            world.TryRent(thread, world.Length);
        }
        else
        {
            world.Return(thread, open[step % open.Count]);
        }
    }
}
