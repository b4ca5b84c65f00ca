using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Nothing that lived before a clear is rented after it: one thread returns while another one clears and rents.</summary>
internal sealed class ClearScenario : IScenario
{
    public int Threads => 2;

    public void Attach(Action<string>? hook) => Schedule.Hook = hook;

    public Execution Start(Random random)
    {
        var world = new ResourceWorld(random, max: 1 + random.Next(2));
        world.Rent(0);
        while (world.Work(0))
        {
        }

        world.PollAll();
        return new ResourceExecution(world,
        [
            () => world.Return(0, 0),
            () =>
            {
                world.Clear(1);
                world.Rent(1);
            },
        ]);
    }
}

/// <summary>
/// A resource is cleared on its way from the returner to a thread that parks for it, and a third thread is the one that sees it: no
/// thread of the thread pool comes, so the parked thread destroys it itself.
/// </summary>
internal sealed class ClearedOnItsWayScenario : IScenario
{
    private ResourceWorld? _world;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => _world!.Attach(hook);

    public Execution Start(Random random)
    {
        ResourceWorld world = _world = new ResourceWorld(random, max: 1, isAlone: true);
        world.RentParked(0);
        bool renews = random.Next(2) == 0;
        return new ResourceExecution(world,
        [
            () => world.Return(0, 0),
            () =>
            {
                world.RentParked(1);
                world.Return(1, 0);
            },
            () =>
            {
                world.Clear(2);
                Schedule.Point("step");
                if (renews)
                {
                    world.Renew(2);
                }
                else
                {
                    world.PollAll();
                }
            },
        ]);
    }
}
