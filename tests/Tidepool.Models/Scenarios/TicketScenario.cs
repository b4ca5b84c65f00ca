using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// The ticket: threads rent, and every thread returns, moves and returns again whatever anyone has rented, while magazines are trimmed and
/// closed and slots change their home.
/// </summary>
internal sealed class TicketScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads);
        int visitRate = random.Next(3) * 8;
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            int rentRate = i == 0 ? 45 : random.Next(3) * 12;
            (int What, int Which)[] program =
                [.. Enumerable.Range(0, random.Next(3, 9)).Select(_ => (random.Next(100), random.Next(1000)))];
            threads.Add(() => Run(world, thread, program, rentRate, visitRate));
        }

        return new WorldExecution(world, threads);
    }

    private static void Run(World world, int thread, (int What, int Which)[] program, int rentRate, int visitRate)
    {
        foreach ((int what, int which) in program)
        {
            if (what < rentRate)
            {
                world.Rent(thread, world.Length);
            }
            else if (what < rentRate + visitRate)
            {
                world.Visit(thread, which % 3, which / 3 % 6);
            }
            else if (Pick(world, thread, which) is { } rental)
            {
                if (which % 7 == 0)
                {
                    world.Move(thread, rental);
                }
                else
                {
                    world.Return(thread, rental);
                }
            }
        }
    }

    /// <summary>Mostly one of the last rentals, so that threads meet at it, whether it was returned or not.</summary>
    private static Rental? Pick(World world, int thread, int which)
    {
        for (int turns = 0; world.Rentals.Count == 0; turns++)
        {
            if (turns == 3)
            {
                return null;
            }

            Schedule.Point(thread == 0 ? "pick" : "spin");
        }

        int back = which % 10 < 7 ? 0 : which / 10 % world.Rentals.Count;
        return world.Rentals[world.Rentals.Count - 1 - back];
    }
}
