using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Programs that are short enough to be searched: three threads return one lease, and one of them or a visitor goes on.</summary>
internal sealed class ShortScenario(int program) : IScenario
{
    private const int MagazineOfTwo = 128 << 10;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads, MagazineOfTwo);
        return new WorldExecution(world, program switch
        {
            // The owner and two others.
            0 => [() => RentReturnRent(world), () => world.Return(1, world.Await(0)), () => world.Return(2, world.Await(0))],

            // Two others while the owner rents; one of them moves the lease instead.
            1 => [() => Rent(world, 3), () => world.Move(1, world.Await(0)), () => world.Return(2, world.Await(0))],

            // The owner and another one while the magazine is closed.
            2 => [() => RentReturnRent(world), () => world.Return(1, world.Await(0)), () => Visit(world, 0)],

            // Two others while the magazine is emptied into the shared tier and a new rental is returned at once.
            _ => [() => Rent(world, 2), () => ReturnBoth(world), () => Visit(world, 1)],
        });
    }

    private static void RentReturnRent(World world)
    {
        world.Return(0, world.Rent(0, world.Length));
        world.Rent(0, world.Length);
        world.Rent(0, world.Length);
    }

    private static void Rent(World world, int count)
    {
        for (int i = 0; i < count; i++)
        {
            world.Rent(0, world.Length);
        }
    }

    private static void ReturnBoth(World world)
    {
        world.Return(1, world.Await(0));
        world.Return(1, world.Await(1));
    }

    private static void Visit(World world, int what)
    {
        Rental first = world.Await(0);
        world.Visit(2, home: 0, what);
        world.Return(2, first);
    }
}
