using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// A thread handle whose inbox has room for two: its thread rents and returns, and the others return the same rentals, so that some
/// settle what the inbox cannot take while the thread is in the middle of a return.
/// </summary>
internal sealed class HandleScenario : IScenario
{
    private const int InboxOfTwo = 512 << 10;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new World(random, Threads, InboxOfTwo);
        int[] own = Choices(random);
        int[][] others = [Choices(random), Choices(random)];
        return new WorldExecution(world,
        [
            () => RentAndReturn(world, own),
            () => Return(world, 1, others[0]),
            () => Return(world, 2, others[1]),
        ]);
    }

    private static int[] Choices(Random random) => [.. Enumerable.Range(0, random.Next(3, 9)).Select(_ => random.Next(1000))];

    private static void RentAndReturn(World world, int[] choices)
    {
        using ThreadHandle<byte> handle = world.Pool.GetThreadHandle(world.Length);
        foreach (int choice in choices)
        {
            world.Rent(0, handle);
            if (choice % 3 > 0)
            {
                world.Return(0, Pick(world, choice / 3), choice % 5 > 0 ? handle : default);
            }
        }
    }

    private static void Return(World world, int thread, int[] choices)
    {
        world.Await(0);
        foreach (int choice in choices)
        {
            world.Return(thread, Pick(world, choice));
        }
    }

    /// <summary>Mostly one of the last rentals, so that threads meet at it, whether it was returned or not.</summary>
    private static Rental Pick(World world, int choice)
    {
        int back = choice % 10 < 5 ? choice % 2 : choice / 10 % world.Rentals.Count;
        return world.Rentals[Math.Max(0, world.Rentals.Count - 1 - back)];
    }
}
