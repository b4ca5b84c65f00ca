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
        { "ClearedOnItsWayScenario", new Mutation("Resources/ResourceCore.Change.cs", "            SettleHot(now, ref work);", "            DrainHot(now, ref work);") },
        { "ClearedOnItsWayScenario", new Mutation("Resources/ResourceCore.Hot.cs", "        if (DrainHot(now, ref work))\n", "        if (DrainHot(now, ref work) && _isClosed)\n") },
        { "KeyedScenario", new Mutation("Resources/ResourceCore.Rent.cs", "            if (IsRemoved)\n            {\n                refusal = null;\n                return null;\n            }\n", string.Empty) },
        { "KeyedScenario", new Mutation("Resources/ResourceGroup.cs", "else if (Used < MaxTotal)", "else if (Used <= MaxTotal)") },
        { "KeyedScenario", new Mutation("Resources/ResourceGroup.cs", "            CloseHots(now, ref work);\n            foreach", "            foreach") },
        { "ParkedScenario", new Mutation("Resources/Waiters.cs", "while (before is not null && before.Sequence > waiter.Sequence)", "while (before is not null && before.Sequence > long.MaxValue - 1)") },
        { "ParkedScenario", new Mutation("Resources/ResourceCore.Backlog.cs", "        waiter.Slot = slot;\n        work.Tell(waiter);\n", "        waiter.Slot = slot;\n") },
        { "ParkedScenario", new Mutation("Resources/ResourceCore.Rent.cs", "        CloseHot(now, ref work);\n        Timer.CountWaiting(1);", "        Timer.CountWaiting(1);") },
        { "ParkedAloneScenario", new Mutation("Resources/ResourceCore.Return.cs", "if (_waitsInReset && _hasParked && !isAsync)", "if (_waitsInReset && _hasParked && isAsync)") },
        { "ParkedAloneScenario", new Mutation("Resources/ResourceCore.Supply.cs", "        LetParkedWork(now, ref work);\n", string.Empty) },
        { "ParkedAloneScenario", new Mutation("Resources/ResourceCore.Backlog.cs", "while (_endings.Oldest is { } ending &&", "while (_endings.Oldest is { State: SlotState.Idle } ending &&") },
        { "ParkedScenario", new Mutation("Resources/ResourceCore.Backlog.cs", "            _threadsAsked--;\n", string.Empty) },
        { "HangingScenario", new Mutation("Resources/ResourceCore.cs", "slot.State == SlotState.Creating ? _settings.CreateTimeout : _settings.PolicyTimeout", "ResourceSettings.Forever") },
        { "HangingScenario", new Mutation("Resources/ResourceCore.Supply.cs", "            EndLate(slot, isLate ? resource : null);\n", string.Empty) },
        { "HangingScenario", new Mutation("Resources/ResourceCore.Sync.cs", "late = slot.Resource; //", "late = null; //") },
        { "HangingScenario", new Mutation("Resources/ResourceCore.Upkeep.cs", "if (now < slot.DueAt)", "if (now < slot.DueAt || slot.State == SlotState.Creating)") },
        { "HangingScenario", new Mutation("Resources/ResourceCore.Supply.cs", "late = slot.Resource;\n            }\n            else\n            {\n                EndByRenter(slot);", "late = null;\n            }\n            else\n            {\n                EndByRenter(slot);") },
        { "SharedScenario", new Mutation("Resources/SharedResource.cs", "            _renters++;\n        }\n\n        // Asked as one of the renters, so that it does not end meanwhile, and not under the gate, because the policy's code runs here.\n        Schedule.Point(\"shared: joined\");\n        if (lease.Slot!.Core.MayServe(lease.Slot, looks))\n        {\n", "        }\n\n        bool mayServe = lease.Slot!.Core.MayServe(lease.Slot, looks);\n        lock (_gate)\n        {\n            if (_isClosed)\n            {\n                return false;\n            }\n\n            _renters++;\n        }\n\n        if (mayServe)\n        {\n") },
        { "SharedScenario", new Mutation("Resources/SharedResource.cs", "            _isClosed = true;\n            isBroken = _isBroken;", "            isBroken = _isBroken;") },
        { "SharedScenario", new Mutation("Resources/SharedTicket.cs", "Interlocked.Exchange(ref _shared, null)?.Leave();", "SharedResource<T>? shared = _shared;\n        Schedule.Point(\"planted\");\n        _shared = null;\n        shared?.Leave();") },
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
