using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// A slot whose return at home raced with one elsewhere goes through the shared tier to another thread, which rents it, while the posting
/// that lost still lies in the inbox of its first home.
/// </summary>
internal sealed class HomeScenario : IScenario
{
    private const int MagazineOfOne = 256 << 10;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads, MagazineOfOne);
        bool waitsForFlush = random.Next(4) > 0;
        bool closes = random.Next(8) == 0;
        int last = Math.Max(0, random.Next(6) - 3);
        int order = random.Next(2) * 2; // whether the racing return or another comes first into the inbox
        bool waits = random.Next(4) > 0; // whether the first thread rents on only after the second one has ended
        bool ended = false;
        int rents = Math.Min(3, 1 + random.Next(6));
        return new WorldExecution(world,
        [
            () =>
            {
                Rental first = world.Rent(0, world.Length);
                Rental second = world.Rent(0, world.Length);
                world.Rent(0, world.Length);
                world.Return(0, first);
                world.Return(0, second);
                if (closes)
                {
                    world.Visit(0, home: 0, what: 0);
                }

                while (waits && !ended)
                {
                    Schedule.Point("spin");
                }

                Enumerable.Range(0, rents).ToList().ForEach(_ => world.Rent(0, world.Length));
            },
            () =>
            {
                world.Return(1, world.Await(order));
                world.Return(1, world.Await(2 - order));
                world.Return(1, world.Await(3));
                world.Return(1, world.Rentals[^1]);
                ended = true;
            },
            () =>
            {
                world.Await(1);
                for (int turns = 0; waitsForFlush && turns < 20 && world.Bucket.Shared.IsEmpty; turns++)
                {
                    Schedule.Point("spin");
                }

                Rental third = world.Rent(2, world.Length);
                Rental fourth = world.Rent(2, world.Length);
                if (last > 0)
                {
                    world.Return(2, fourth);
                    world.Return(2, third);
                }

                if (last > 1)
                {
                    world.Rent(2, world.Length);
                }
            },
        ]);
    }
}
