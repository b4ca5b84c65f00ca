using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Threads that park for a resource beside rentals that are awaited: one queue, no lost wake-up, and a thread that works for itself
/// comes back to its place. The last thread never parks, and helps until the others have ended.
/// </summary>
internal class ParkedScenario : IScenario
{
    private ResourceWorld? _world;

    public int Threads => 3;

    protected virtual bool MayHang => false;

    public void Attach(Action<string>? hook) => _world!.Attach(hook);

    public Execution Start(Random random)
    {
        ResourceWorld world = _world = new ResourceWorld(random, random.Next(1, 3), random.Next(4) == 0, MayHang);
        int ended = 0;
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            (int thread, bool parks) = (i, i < Threads - 1);
            (int What, int Which)[] program =
                [.. Enumerable.Range(0, random.Next(4, 10)).Select(_ => (random.Next(100), random.Next(1000)))];
            threads.Add(() =>
            {
                ResourceWorld.IsReleaser = !parks;
                foreach ((int what, int which) in program)
                {
                    Schedule.Point("step");
                    Do(world, thread, what, which, parks);
                }

                if (parks)
                {
                    ended++;
                    return;
                }

                world.FailsCreations = world.Hangs = false;
                for (int round = 0; ended < Threads - 1; round++)
                {
                    Help(world, thread, round);
                }
            });
        }

        return new ResourceExecution(world, threads);
    }

    private void Do(ResourceWorld world, int thread, int what, int which, bool parks)
    {
        switch (what)
        {
            case < 30 when parks:
                world.RentParked(thread, which % 4 != 0);
                break;
            case < 38:
                world.Rent(thread, which % 4 != 0);
                break;
            case < 60:
                world.PollAll();
                world.Return(thread, which);
                break;
            case < 63:
                world.TryRent(thread);
                break;
            case < 67:
                world.Cancel(thread, which);
                break;
            case < 71:
                world.Break(thread, which);
                break;
            case < 73:
                world.Return(thread, which, again: true);
                break;
            case < 75:
                world.Detach(thread, which);
                break;
            case < 77:
                world.Clear(thread);
                break;
            case < 78:
                world.Resize(thread, 1 + (which % 2));
                break;
            case < 79:
                world.Close(thread);
                break;
            case < 82:
                world.FailsCreations = which % 2 == 0;
                break;
            case < 87:
                world.Advance(thread, which % 3 == 0 ? 2000 : 60);
                break;
            case < 93 when MayHang:
                world.Hangs = which % 3 != 0;
                break;
            case < 95 when MayHang:
                world.Release(thread, which);
                break;
            default:
                while (world.Work(thread))
                {
                }

                break;
        }
    }

    /// <summary>Returns what others hold, works, releases what hangs, and lets time pass when nothing else helps.</summary>
    private static void Help(ResourceWorld world, int thread, int round)
    {
        while (world.Work(thread))
        {
        }

        world.PollAll();
        world.Return(thread, round);
        if (round % 4 == 3)
        {
            world.Release(thread, round);
        }

        if (round % 8 == 7)
        {
            world.Advance(thread, 60); // a failed creation is tried again
        }

        Schedule.Point("spin");
    }
}

/// <summary>
/// Operations of the policy that hang until they are abandoned, or longer: none keeps a place, and what they leave is destroyed once.
/// </summary>
internal sealed class HangingScenario : ParkedScenario
{
    protected override bool MayHang => true;
}

/// <summary>
/// Threads that park need no other thread: none of the thread pool comes to create, reset or destroy a resource, as long as each returns
/// what it has.
/// </summary>
internal sealed class ParkedAloneScenario : IScenario
{
    private ResourceWorld? _world;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => _world!.Attach(hook);

    public Execution Start(Random random)
    {
        ResourceWorld world = _world = new ResourceWorld(random, random.Next(1, 3), isAlone: true);
        int rentals = random.Next(1, 6);
        bool[] breaks = [.. Enumerable.Range(0, rentals).Select(_ => random.Next(4) == 0)];
        return new ResourceExecution(world, [.. Enumerable.Range(0, Threads).Select<int, Action>(thread => () =>
        {
            for (int i = 0; i < rentals; i++)
            {
                world.RentParked(thread);
                if (breaks[i])
                {
                    world.Break(thread, i);
                }

                world.Return(thread, i);
            }
        })]);
    }
}
