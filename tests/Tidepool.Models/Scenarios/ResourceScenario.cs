using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Three threads do random things to one resource pool; what they do most decides which invariant is under strain.</summary>
internal abstract class ResourceScenario : IScenario
{
    private const int Rent = 0;
    private const int Return = 1;
    private const int Work = 2;

    private static readonly Action<ResourceWorld, int, int>[] Operations =
    [
        static (w, t, _) => w.Rent(t),
        static (w, t, n) => w.Return(t, n),
        static (w, t, _) => w.Work(t),
        static (w, t, _) => w.TryRent(t),
        static (w, t, n) => w.Cancel(t, n),
        static (w, t, n) => w.Return(t, n, again: true),
        static (w, t, n) => w.Detach(t, n),
        static (w, t, n) => w.Break(t, n),
        static (w, t, _) => w.Clear(t),
        static (w, t, n) => w.Resize(t, 1 + (n % 3)),
        static (w, t, _) => w.Close(t),
        static (w, t, n) => w.Advance(t, n % 3 == 0 ? 2000 : 60),
        static (w, t, _) => w.Rent(t, isPatient: false),
        static (w, _, n) => w.FailsCreations = n % 2 == 0,
        static (w, _, _) => w.PollAll(),
    ];

    public int Threads => 3;

    /// <summary>
    /// How often each operation comes: rent, return, work, try, cancel, return again, detach, break, clear, resize, close, time, rent for
    /// 100 ms, fail, poll.
    /// </summary>
    protected abstract int[] Weights { get; }

    protected virtual int MaxSize(Random random) => random.Next(1, 3);

    public void Attach(Action<string>? hook) => Schedule.Hook = hook;

    public Execution Start(Random random)
    {
        var world = new ResourceWorld(random, MaxSize(random), random.Next(4) == 0);
        int all = Weights.Sum();
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            (int What, int Which)[] program =
                [.. Enumerable.Range(0, random.Next(4, 12)).Select(_ => (Pick(random.Next(all)), random.Next(1000)))];
            threads.Add(() =>
            {
                foreach ((int what, int which) in program)
                {
                    Schedule.Point("step");
                    Operations[what](world, thread, which);
                    if (what is Rent or Return)
                    {
                        world.PollAll();
                    }

                    while (what == Work && world.Work(thread))
                    {
                    }
                }
            });
        }

        return new ResourceExecution(world, threads);
    }

    private int Pick(int number)
    {
        int what = 0;
        while (number >= Weights[what])
        {
            number -= Weights[what++];
        }

        return what;
    }
}

/// <summary>Never more than MaxSize, whatever fails and changes.</summary>
internal sealed class CapacityScenario : ResourceScenario
{
    protected override int[] Weights => [30, 25, 25, 5, 2, 0, 3, 5, 4, 4, 0, 3, 3, 4, 5];
}

/// <summary>One resource has one renter, or waits in one place.</summary>
internal sealed class OneRenterScenario : ResourceScenario
{
    protected override int[] Weights => [30, 35, 15, 10, 3, 5, 2, 2, 1, 0, 0, 3, 0, 0, 5];
}

/// <summary>Created - destroyed - detached is what is there.</summary>
internal sealed class ConservationScenario : ResourceScenario
{
    protected override int[] Weights => [25, 25, 25, 5, 2, 3, 8, 8, 4, 4, 2, 4, 2, 4, 5];
}

/// <summary>A caller that gave up never owns a resource.</summary>
internal sealed class GivingUpScenario : ResourceScenario
{
    protected override int[] Weights => [30, 25, 15, 3, 25, 0, 0, 2, 0, 0, 0, 8, 15, 0, 5];

    protected override int MaxSize(Random random) => 1;
}

/// <summary>No caller waits while a resource is idle or could be created.</summary>
internal sealed class WakeUpScenario : ResourceScenario
{
    protected override int[] Weights => [35, 35, 20, 4, 4, 0, 3, 4, 2, 0, 0, 2, 0, 0, 2];

    protected override int MaxSize(Random random) => 1;
}

/// <summary>A failed creation frees its place and others are served.</summary>
internal sealed class FailureScenario : ResourceScenario
{
    protected override int[] Weights => [35, 20, 30, 2, 5, 0, 3, 10, 0, 0, 0, 8, 5, 15, 5];
}

/// <summary>First come, first served.</summary>
internal sealed class OrderScenario : ResourceScenario
{
    protected override int[] Weights => [45, 35, 15, 15, 5, 0, 2, 2, 0, 0, 0, 2, 2, 0, 5];

    protected override int MaxSize(Random random) => 1;
}

/// <summary>An old copy of a lease never returns what another caller holds.</summary>
internal sealed class OldCopyScenario : ResourceScenario
{
    protected override int[] Weights => [30, 20, 15, 10, 0, 30, 3, 3, 0, 0, 0, 0, 0, 0, 8];

    protected override int MaxSize(Random random) => 1;
}

/// <summary>A return that races with clear, resize and shutdown ends its resource once.</summary>
internal sealed class EndOnceScenario : ResourceScenario
{
    protected override int[] Weights => [30, 30, 20, 5, 3, 3, 3, 5, 12, 10, 4, 3, 2, 0, 5];
}
