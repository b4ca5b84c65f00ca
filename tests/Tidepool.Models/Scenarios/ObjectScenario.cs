using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Threads rent objects, leased and raw, return and detach whatever anyone has rented, also twice and at once, while policies refuse and
/// throw, magazines are trimmed and closed, and sometimes the pool is disposed in the middle.
/// </summary>
internal sealed class ObjectScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        bool disposes = random.Next(8) == 0;
        var world = new ObjectWorld(random, disposes);
        int visitRate = random.Next(3) * 6;
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            int rentRate = i == 0 ? 50 : 15 + (random.Next(3) * 12);
            (int What, int Which)[] program =
                [.. Enumerable.Range(0, random.Next(3, 12)).Select(_ => (random.Next(100), random.Next(1000)))];
            bool ends = disposes && i == Threads - 1;
            threads.Add(() =>
            {
                Run(world, thread, program, rentRate, visitRate);
                if (ends)
                {
                    world.Dispose(thread);
                }
            });
        }

        return new ObjectExecution(world, threads);
    }

    private static void Run(ObjectWorld world, int thread, (int What, int Which)[] program, int rentRate, int visitRate)
    {
        foreach ((int what, int which) in program)
        {
            if (what < rentRate)
            {
                if (which % 3 == 0)
                {
                    world.RentRaw(thread);
                }
                else
                {
                    world.Rent(thread);
                }
            }
            else if (what < rentRate + visitRate)
            {
                world.Visit(thread, which);
            }
            else if (which % 3 == 0 || !world.HasRentals)
            {
                world.ReturnRaw(thread, which);
            }
            else
            {
                world.Return(thread, which, detaches: which % 11 == 1);
            }
        }
    }
}
