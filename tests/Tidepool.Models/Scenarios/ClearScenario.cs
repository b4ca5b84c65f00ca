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
