using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>The shard protocol: one thread rents and returns while one or two others pause, trim and close its magazine.</summary>
internal sealed class ShardScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads);
        int[] own = Enumerable.Range(0, random.Next(6, 17)).Select(_ => random.Next(100)).ToArray();
        var threads = new List<Action> { () => RentAndReturn(world, own) };
        for (int visitor = 1; visitor <= random.Next(1, 3); visitor++)
        {
            int thread = visitor;
            int[] visits = Enumerable.Range(0, random.Next(2, 7)).Select(_ => random.Next(9)).ToArray();
            threads.Add(() =>
            {
                world.Await(0); // before that there is nothing to visit
                Array.ForEach(visits, v => world.Visit(thread, home: 0, v));
            });
        }

        return new WorldExecution(world, threads);
    }

    private static void RentAndReturn(World world, int[] program)
    {
        var held = new List<Rental>();
        foreach (int step in program)
        {
            if (step < 50 || held.Count == 0)
            {
                held.Add(world.Rent(0, world.Length));
            }
            else
            {
                Rental rental = held[step % held.Count];
                held.Remove(rental);
                world.Return(0, rental);
            }
        }

        // Half of the programs leave their last rentals out.
        held.Take(program[0] % 2 == 0 ? held.Count : 0).ToList().ForEach(r => world.Return(0, r));
    }
}
