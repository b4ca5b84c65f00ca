using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Building;

/// <summary>For each invariant of resource pools a bug that breaks it, and the schedules that find it.</summary>
public class PlantedResourceBugTests(ITestOutputHelper output)
{
    private const int Schedules = 100_000; // the search ends at the first failure

    public static TheoryData<string, Mutation> Bugs => new()
    {
        { "CapacityScenario", new Mutation("Resources/ResourceCore.Supply.cs", "|| Used >= _max ||", "|| Live >= _max ||") },
        { "OneRenterScenario", new Mutation("Resources/ResourceCore.Hot.cs", "ResourceSlot<T>? slot = Interlocked.Exchange(ref _hot, null);\n        if (slot is null)", "ResourceSlot<T>? slot = _hot;\n        Schedule.Point(\"planted\");\n        _hot = null;\n        if (slot is null)") },
        { "ConservationScenario", new Mutation("Resources/ResourceCore.Return.cs", "            _detached++;\n", string.Empty) },
        { "GivingUpScenario", new Mutation("Resources/ResourceCore.Rent.cs", "if (waiter.State == WaiterState.Queued)\n        {\n            Dequeue(waiter);", "if (waiter.State == WaiterState.Queued && failure != WaiterFailure.Cancelled)\n        {\n            Dequeue(waiter);") },
        { "WakeUpScenario", new Mutation("Resources/ResourceCore.Hot.cs", "if (older is not null || !_isHotOpen)", "if (older is not null)") },
        { "FailureScenario", new Mutation("Resources/ResourceCore.Supply.cs", "                Release(slot, SlotState.Free, ref work);\n                bool isUnsupported", "                bool isUnsupported") },
        { "OrderScenario", new Mutation("Resources/ResourceCore.Supply.cs", "if (!slot.IsDirty && _waiters.First is { } waiter)", "if (!slot.IsDirty && _waiters.After(_waiters.Count - 1) is { } waiter)") },
        { "OldCopyScenario", new Mutation("Resources/ResourceSlot.cs", "Interlocked.CompareExchange(ref Version, ticket + 1, ticket) == ticket", "(Version & 1) == 1 && Interlocked.Increment(ref Version) > 0") },
        { "EndOnceScenario", new Mutation("Resources/ResourceCore.Change.cs", "            _isClosed = true;\n            CloseHot(now, ref work);\n", "            _isClosed = true;\n") },
        { "ClearScenario", new Mutation("Resources/ResourceCore.Hot.cs", "|| slot.Generation != Volatile.Read(ref _generation))", ")") },
        { "KeyedScenario", new Mutation("Resources/ResourceCore.Rent.cs", "            if (IsRemoved)\n            {\n                refusal = null;\n                return null;\n            }\n", string.Empty) },
        { "KeyedScenario", new Mutation("Resources/ResourceGroup.cs", "else if (Used < MaxTotal)", "else if (Used <= MaxTotal)") },
        { "KeyedScenario", new Mutation("Resources/ResourceGroup.cs", "            CloseHots(now, ref work);\n            foreach", "            foreach") },
    };

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Bugs))]
    public void A_planted_bug_is_found(string scenario, Mutation bug)
    {
        string? failure = Explorer.Explore(ModelBuild.Compile(scenario, fine: false, bug), Schedules);
        Assert.True(failure is not null, $"{Schedules} schedules of {scenario} did not find the bug {bug} (seed {Explorer.Seed})");
        output.WriteLine(failure);
    }
}
