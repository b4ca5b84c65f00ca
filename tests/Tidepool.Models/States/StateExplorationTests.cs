using Tidepool.Models.Building;
using Tidepool.Models.Scheduling;
using Xunit.Abstractions;
using static Tidepool.Models.Building.Mutation;

namespace Tidepool.Models.States;

/// <summary>Every state that a small pool can reach: none breaks an invariant, and from each of them every caller is served.</summary>
public class StateExplorationTests(ITestOutputHelper output)
{
    private const string Await = "two slots, four rentals that await and give up";
    private const string Three = "three slots, three rentals, of which one parks";
    private const string Validation = "two slots, validation, bad resources";
    private const string Parked = "two slots, parked threads";
    private const string Failures = "two slots, creations that fail and hang";
    private const string Changes = "two slots, changes of the owner";
    private const string Impatient = "one slot, rentals that time out";
    private const string Times = "two slots, idle and life times";

    public static TheoryData<string> Names => [.. Explorations.Keys];

    public static TheoryData<string, string> BugRows => Bugs.Rows;

    /// <summary>For each kind of decision a bug, and what must be explored to find it.</summary>
    internal static PlantedBugs Bugs { get; } = new()
    {
        { Parked, "parked rentals are given no work", In("PoolState.Dispatch").Remove("LetParkedHelp(section);") },
        { Parked, "a renter that has worked is still counted", In("PoolState.EndByRenter").Remove("_byRenter--;") },
        { Parked, "a rental that has worked is still at work", In("PoolState.Requeue").Remove("_atWork--;") },
        { Parked, "a destroyed resource has no consequence", In("PoolState.FinishDestroy").Remove("Dispatch(section);") },
        { Await, "what comes back is not handed over", In("PoolState.GiveOrKeep").Replace("!slot.IsDirty", "slot.IsDirty") },
        { Await, "the timer counts a rental that has left the queue", In("PoolState.Dequeue").Remove("section.CountWaiting(-1);") },
        { Failures, "a failed creation keeps its place", In("PoolState.FailCreate").Remove("Release(slot, SlotState.Free, section);") },
        {
            Failures, "an abandoned slot serves",
            In("PoolState.FinishCreate").Replace("slot.State != SlotState.Abandoned", "slot.State != SlotState.Free")
        },
        { Failures, "what is begun is never due", In("PoolState.BeginOldest").Remove("SetDue(slot, section);") },
        { Changes, "too many places are forgotten", In("PoolState.Release").Remove("_isBeyond &= Used > _max;") },
        { Changes, "a shutdown forgets a rental that works", In("PoolState.Requeue").Replace("_isClosed", "waiter.Slot is null") },
        { Changes, "a shutdown leaves the hot slot open", In("PoolState.Close").Remove("CloseHot(section);") },
        { Changes, "a shutdown is not told of the last lease", In("PoolState.Return").Remove("Dispatch(section);") },
        {
            Impatient, "a rental that works never times out",
            In("PoolState.Requeue").Replace("section.Now >= waiter.Deadline", "waiter.Slot is null")
        },
        { Impatient, "time does not end a wait", In("PoolState.DoHousekeeping").Remove("ExpireWaiters(section);") },
        { Times, "the reserve is not refilled", In("PoolState.DoHousekeeping").Remove("Dispatch(section);") },
    };

    /// <summary>What is explored, and how many states there are: another number means other behaviour, which is worth a look.</summary>
    private static Dictionary<string, (Bounds Bounds, int States)> Explorations { get; } = new()
    {
        [Await] = (new() { Slots = 2, Waiting = 4, Cancels = 2, Bad = 1 }, 396),
        [Three] = (new() { Slots = 3, Waiting = 3, Parked = 1, Cancels = 1, Bad = 1 }, 7701),
        [Validation] = (new() { Slots = 2, Waiting = 3, Bad = 2, Validates = true }, 430),
        [Parked] = (new() { Slots = 2, Waiting = 3, Parked = 2, Bad = 1, Cancels = 1, Validates = true }, 7564),
        [Failures] = (new() { Slots = 2, Waiting = 3, Parked = 1, Failures = 2, Ticks = 3 }, 15_877),
        [Changes] = (new() { Slots = 2, Waiting = 3, Parked = 1, Changes = 2 }, 9077),
        [Impatient] = (new() { Slots = 1, Waiting = 3, Parked = 2, Bad = 1, Ticks = 3, Patience = 100 }, 5313),
        [Times] = (new() { Slots = 2, Waiting = 3, Ticks = 4, KeepsWarm = true, Expires = true }, 18_386),
    };

    [Theory]
    [MemberData(nameof(Names))]
    public void No_state_breaks_an_invariant(string name)
    {
        (Bounds bounds, int expected) = Explorations[name];
        (int states, int moves) = new StateExploration().Explore(bounds);
        output.WriteLine($"{states} states, at most {moves} moves from the first");
        Assert.Equal(expected, states);
    }

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(BugRows))]
    public void A_planted_bug_breaks_a_state(string name, string bug)
    {
        IExploration broken = ModelBuild.CompileExploration(Bugs.Find(name, bug));
        var failure = Assert.Throws<ScheduleException>(() => broken.Explore(Explorations[name].Bounds));
        output.WriteLine(failure.Message);
    }
}
