using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Two threads rent and return what the other one and they themselves have rented, so that their outboxes fill, while a third one posts
/// these, trims and closes magazines and returns the same rentals, or counts what is idle.
/// </summary>
internal sealed class OutboxScenario : IScenario
{
    private const int OutboxOfThree = 64 << 10;
    private const int TwoOutboxes = 6;
    private const int MoreThanTheRing = 20; // an inbox for items of this size has a ring of 16

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads, OutboxOfThree);
        int[][] choices = [Choices(random), Choices(random), Choices(random)];
        bool visits = random.Next(4) > 0;
        if (random.Next(6) == 0)
        {
            return new WorldExecution(world,
            [
                () => Rent(world, 0, TwoOutboxes),
                () => ReturnAll(world, 1, TwoOutboxes),
                () => Count(world, 2, TwoOutboxes),
            ]);
        }

        if (random.Next(4) == 0)
        {
            return new WorldExecution(world,
            [
                () => Rent(world, 0, MoreThanTheRing), // and takes nothing in: the ring fills
                () => ReturnAll(world, 1, MoreThanTheRing),
                () => Return(world, 2, choices[2], visits),
            ]);
        }

        return new WorldExecution(world,
        [
            () => RentThenReturn(world, 0, random.Next(3, 7), choices[0]),
            () => RentThenReturn(world, 1, random.Next(1, 3), choices[1]),
            () => Return(world, 2, choices[2], visits),
        ]);
    }

    private static int[] Choices(Random random) => [.. Enumerable.Range(0, random.Next(3, 10)).Select(_ => random.Next(1000))];

    private static void RentThenReturn(World world, int thread, int rents, int[] choices)
    {
        Rent(world, thread, rents);
        Return(world, thread, choices, visits: false);
        world.Rent(thread, world.Length);
    }

    private static void Rent(World world, int thread, int rents)
    {
        for (int i = 0; i < rents; i++)
        {
            world.Rent(thread, world.Length);
        }
    }

    private static void Count(World world, int thread, int rents)
    {
        world.Await(rents - 1);
        for (int i = 0; i < 3; i++)
        {
            world.Count(thread);
        }
    }

    private static void ReturnAll(World world, int thread, int count)
    {
        for (int i = 0; i < count; i++)
        {
            world.Return(thread, world.Await(i));
        }
    }

    private static void Return(World world, int thread, int[] choices, bool visits)
    {
        world.Await(2);
        foreach (int choice in choices)
        {
            if (visits && choice % 3 == 0)
            {
                world.Visit(thread, choice / 3 % 2, choice / 6 % 4 == 0 ? choice / 24 % 3 : 5);
            }
            else
            {
                world.Return(thread, world.Rentals[choice / 3 % world.Rentals.Count]);
            }
        }
    }
}
