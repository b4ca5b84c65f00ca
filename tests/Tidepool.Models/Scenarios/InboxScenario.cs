using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Two posters make the inbox of one thread wide and a third thread trims or closes its magazine, while the owner rents and returns.
/// </summary>
internal sealed class InboxScenario : IScenario
{
    private const int FullMagazine = 4096;
    private const int Close = 0;
    private const int Trim = 2;
    private const int Widen = 6;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads, FullMagazine);
        int[] steps = [.. Enumerable.Range(0, 6).Select(_ => random.Next(4) switch { 0 => Close, 1 => Trim, _ => Widen })];
        return new WorldExecution(world,
        [
            () => RentAndReturn(world),
            () => Visit(world, 1, steps[..3]),
            () => Visit(world, 2, steps[3..]),
        ]);
    }

    private static void RentAndReturn(World world)
    {
        for (int i = 0; i < 2; i++)
        {
            world.Return(0, world.Rent(0, world.Length));
        }
    }

    private static void Visit(World world, int thread, int[] steps)
    {
        Rental first = world.Await(0);
        foreach (int step in steps)
        {
            world.Visit(thread, home: 0, step);
        }

        world.Return(thread, first);
    }
}
