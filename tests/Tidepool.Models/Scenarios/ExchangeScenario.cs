using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// The exchange of magazines: two or three threads overfill and empty theirs through the shared tier, which is trimmed meanwhile.
/// </summary>
internal sealed class ExchangeScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads);
        var threads = new List<Action>();
        int count = random.Next(2, Threads + 1);
        for (int i = 0; i < count; i++)
        {
            int thread = i;
            int most = random.Next(2, 8);
            int[] program = Enumerable.Range(0, random.Next(6, 19)).Select(_ => random.Next(1000)).ToArray();
            threads.Add(() => FillAndEmpty(world, thread, program, most));
        }

        return new WorldExecution(world, threads);
    }

    private static void FillAndEmpty(World world, int thread, int[] program, int most)
    {
        var held = new List<Rental>();
        bool fills = true;
        foreach (int step in program)
        {
            fills = held.Count == 0 || (fills && held.Count < most);
            if (step < 60)
            {
                world.TrimShared(thread, all: step < 30);
            }
            else if (fills)
            {
                // Now and then the class below, which may be served by a buffer of this one.
                held.Add(world.Rent(thread, step % 5 == 0 ? world.Length - (world.Length / 5) : world.Length));
            }
            else
            {
                Rental rental = held[step % held.Count];
                held.Remove(rental);
                world.Return(thread, rental);
            }
        }

        held.ForEach(r => world.Return(thread, r));
    }
}
