using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Keys come and go under one limit: a rental that races with the forgetting of its key gets a live one, and no place is lost or given
/// twice. All threads but the last one also park; the last one helps until the others have ended.
/// </summary>
internal sealed class KeyedScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => Schedule.Hook = hook;

    public Execution Start(Random random)
    {
        var world = new KeyedWorld(random, maxTotal: random.Next(1, 4), steals: random.Next(3) > 0);
        int ended = 0;
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            bool parks = i < Threads - 1;
            (int What, int Which)[] program =
                [.. Enumerable.Range(0, random.Next(4, 12)).Select(_ => (random.Next(100), random.Next(1000)))];
            threads.Add(() =>
            {
                Array.ForEach(program, step => world.Step(step.What, step.Which, parks));
                if (parks)
                {
                    ended++;
                    return;
                }

                for (int round = 0; ended < Threads - 1; round++)
                {
                    world.Help(round);
                }
            });
        }

        return new KeyedExecution(world, threads);
    }
}

/// <summary>
/// Threads that park for keys need no other thread: what is to be created, reset or ended, for their key or of another one, they do
/// themselves, as long as each returns what it has.
/// </summary>
internal sealed class KeyedAloneScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => Schedule.Hook = hook;

    public Execution Start(Random random)
    {
        var world = new KeyedWorld(random, maxTotal: random.Next(1, 3), steals: true, isAlone: true);
        return new KeyedExecution(world, [.. Enumerable.Range(0, Threads).Select<int, Action>(_ =>
        {
            (int Key, bool IsBroken)[] rentals =
                [.. Enumerable.Range(0, random.Next(1, 6)).Select(_ => (random.Next(3), random.Next(4) == 0))];
            return () => Array.ForEach(rentals, rental => world.UseParked(rental.Key, rental.IsBroken));
        })]);
    }
}

/// <summary>Programs over one keyed pool.</summary>
internal sealed class KeyedExecution(KeyedWorld world, IReadOnlyList<Action> threads) : Execution
{
    public override IReadOnlyList<Action> Threads => threads;

    public override void Check() => world.Check();

    public override void Abandon()
    {
    }

    public override string ToString() => world.ToString();
}
