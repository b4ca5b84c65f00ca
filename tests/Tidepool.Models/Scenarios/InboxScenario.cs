using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Two threads widen the inbox of a third one, trim or close its magazine and return one of its rentals, while it rents that again.
/// </summary>
internal sealed class InboxScenario : IScenario
{
    private const int FullMagazine = 4096;
    private const int Close = 0;
    private const int Trim = 2;
    private const int Widen = 6;

    public int Threads => 3;

    public void Attach(Action<string>? hook)
    {
        World.Attach(hook);
        ThreadTier.ReturnsBeforeOutbox = int.MaxValue; // every return is posted at once
    }

    public Execution Start(Random random)
    {
        var world = new World(random, Threads, FullMagazine);
        int[] steps = [.. Enumerable.Range(0, 6).Select(_ => random.Next(4) switch { 0 => Close, 1 => Trim, _ => Widen })];
        return new WorldExecution(world,
        [
            () => Rent(world, rents: random.Next(2, 5)),
            () => Visit(world, 1, steps[..3], returnsFirst: true),
            () => Visit(world, 2, steps[3..], returnsFirst: random.Next(2) == 0),
        ]);
    }

    private static void Rent(World world, int rents)
    {
        world.Rent(0, world.Length);
        for (int i = 1; i < rents; i++)
        {
            world.Return(0, world.Rent(0, world.Length)); // perhaps the one that has come home
        }
    }

    private static void Visit(World world, int thread, int[] steps, bool returnsFirst)
    {
        Rental first = world.Await(0);
        if (returnsFirst)
        {
            world.Return(thread, first);
        }

        foreach (int step in steps)
        {
            world.Visit(thread, home: 0, step);
        }

        if (!returnsFirst)
        {
            world.Return(thread, first);
        }
    }
}
