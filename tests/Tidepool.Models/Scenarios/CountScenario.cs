using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Two threads rent and return, also what the other one has rented, while a third one counts.</summary>
internal sealed class CountScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads);
        int[][] programs = [Program(random), Program(random)];
        return new WorldExecution(world,
        [
            () => RentAndReturn(world, 0, programs[0]),
            () => RentAndReturn(world, 1, programs[1]),
            () => Count(world, 2),
        ]);
    }

    private static int[] Program(Random random) => [.. Enumerable.Range(0, random.Next(4, 14)).Select(_ => random.Next(1000))];

    private static void RentAndReturn(World world, int thread, int[] program)
    {
        foreach (int step in program)
        {
            List<Rental> held = HeldOf(world);
            if (held.Count == 0 || step % 2 == 0)
            {
                world.Step(() => world.Rent(thread, world.Length));
            }
            else
            {
                world.Step(() => world.Return(thread, held[step / 2 % held.Count]));
            }
        }
    }

    /// <summary>By index: a thread that has waited for a lock may add one meanwhile.</summary>
    private static List<Rental> HeldOf(World world)
    {
        var held = new List<Rental>();
        for (int i = 0; i < world.Rentals.Count; i++)
        {
            if (world.Rentals[i].Begun == 0)
            {
                held.Add(world.Rentals[i]);
            }
        }

        return held;
    }

    private static void Count(World world, int thread)
    {
        for (int i = 0; i < 3; i++)
        {
            world.CountAmid(thread);
        }
    }
}
