using Xunit.Abstractions;
using static Tidepool.Models.Building.Mutation;

namespace Tidepool.Models.Building;

/// <summary>For each invariant of resource pools a bug that breaks it, and the schedules that find it.</summary>
public class PlantedResourceBugTests(ITestOutputHelper output)
{
    private const string TakeInTwoSteps =
        """((Func<T?>)(() => { T? item = _item; Schedule.Point("planted"); _item = null; return item; }))()""";

    public static TheoryData<string, string> Rows => Bugs.Rows;

    internal static PlantedBugs Bugs { get; } = new()
    {
        {
            "CapacityScenario", "places being made or freed count as free",
            In("PoolState.WantsCreation").Replace("Used >= _max", "Live >= _max")
        },
        {
            "OneRenterScenario", "two renters take the hot resource",
            In("HotSlot.Take").Replace("Interlocked.Exchange(ref _item, null)", TakeInTwoSteps)
        },
        {
            "HotSlotScenario", "two take the same item",
            In("HotSlot.Take").Replace("Interlocked.Exchange(ref _item, null)", TakeInTwoSteps)
        },
        {
            "HotSlotScenario", "what lay there before is overwritten",
            In("HotSlot.Put").Replace("Interlocked.Exchange(ref _item, item)", "((Func<T?>)(() => { _item = item; return null; }))()")
        },
        {
            "HotSlotScenario", "the slot is emptied before it is closed",
            In("HotSlot.Close").Replace("_isOpen = false; return Take();", "T? item = Take(); _isOpen = false; return item;")
        },
        {
            "HotSlotScenario", "what was put into a closed slot stays there",
            In("HotSlot.TakeIfClosed").Replace("_isOpen ? null : Take()", "null")
        },
        { "ConservationScenario", "a detached resource is not counted", In("PoolState.Detach").Remove("_detached++;") },
        {
            "GivingUpScenario", "a cancelled rental stays in the queue",
            In("PoolState.Fail").Replace(
                "waiter.State == WaiterState.Queued",
                "waiter.State == WaiterState.Queued && failure != WaiterFailure.Cancelled")
        },
        {
            "WakeUpScenario", "a returner overlooks that the hot slot was closed",
            In("ResourceCore.TryPutHot").Replace("older is not null || !_hot.IsOpen", "older is not null")
        },
        {
            "FailureScenario", "a failed creation keeps its place",
            In("PoolState.FailCreate").Remove("Release(slot, SlotState.Free, section);")
        },
        {
            "OrderScenario", "the last in the queue is served first",
            In("PoolState.GiveOrKeep").Replace("_waiters.First", "_waiters.After(_waiters.Count - 1)")
        },
        {
            "OldCopyScenario", "an old copy of a lease ends another rental",
            In("ResourceSlot.TryRetire").Replace(
                "Interlocked.CompareExchange(ref Version, ticket + 1, ticket) == ticket",
                "(Version & 1) == 1 && Interlocked.Increment(ref Version) > 0")
        },
        { "EndOnceScenario", "a shutdown leaves the hot slot open", In("PoolState.Close").Remove("CloseHot(section);") },
        {
            "EndOnceScenario", "a pool that was made smaller leaves the hot slot open",
            In("PoolState.Resize").Remove("if (_isBeyond) { CloseHot(section); }")
        },
        { "EndOnceScenario", "a resource lies where no timer looks", In("ResourceCore.MustMove").Replace("Timer.Due", "0") },
        {
            "ClearScenario", "a cleared resource is rented from the hot slot",
            In("ResourceCore.TakeOpenHot").Remove("slot.Generation != State.Generation")
        },
        {
            "ClearedOnItsWayScenario", "a renewal does not do what follows from its drain",
            In("PoolState.Renew").Replace("DrainAndDispatch(section);", "DrainHot(section);")
        },
        {
            "ClearedOnItsWayScenario", "a drain has no consequence in an open pool",
            In("PoolState.DrainAndDispatch").Replace("DrainHot(section)", "DrainHot(section) && _isClosed")
        },
        {
            "KeyedScenario", "a rental waits at a forgotten key",
            In("PoolState.Queue").Remove("if (IsRemoved) { return null; }")
        },
        {
            "KeyedScenario", "the keys have one place more than the limit",
            In("ResourceGroup.GivePlaces").Replace("Used < MaxTotal", "Used <= MaxTotal")
        },
        { "KeyedScenario", "a key that waits does not see hot resources", In("ResourceGroup.TrySteal").Remove("CloseHots(section);") },
        {
            "KeyedScenario", "parked rentals of a key that was given a place are given no work",
            In("ResourceGroup.GivePlaces").Remove("pool.LetParkedWork(section);")
        },
        {
            "KeyedAloneScenario", "a key is forgotten while its thread works",
            In("PoolState.LeaveGroupIfEmpty").Replace("IsUnused", "_waiters.Count == 0")
        },
        {
            "KeyedAloneScenario", "parked rentals destroy nothing of other keys",
            In("PoolState.LetParkedHelp").Remove("_group?.LetParkedEnd(section);")
        },
        {
            "KeyedAloneScenario", "a key waits for a reset that no thread begins",
            In("ResourceGroup.FindUnneeded").Replace("slot.Core.State.HasSurplus", "slot.Core.State.IsRemoved")
        },
        {
            "ParkedScenario", "a rental that has worked for itself queues last",
            In("Waiters.Add").Replace("before.Sequence > waiter.Sequence", "before.Sequence > long.MaxValue - 1")
        },
        { "ParkedScenario", "a parked rental is not told to work", In("PoolState.LetWork").Remove("section.Notify(waiter);") },
        {
            "ParkedScenario", "a rental waits beside an open hot slot",
            In("PoolState.Enqueue").Remove("CloseHot(section);")
        },
        {
            "ParkedAloneScenario", "a synchronous return needs a thread for its reset",
            In("ResourceCore.EndUse").Replace("!isAsync", "isAsync")
        },
        {
            "ParkedAloneScenario", "parked rentals are given no work",
            In("PoolState.Dispatch").Remove("LetParkedHelp(section);")
        },
        {
            "ParkedAloneScenario", "parked rentals destroy no resource",
            In("PoolState.LetParkedWork").Replace(
                "_backlog.OldestToDestroy is { } ending",
                "_backlog.OldestToDestroy is { State: SlotState.Idle } ending")
        },
        { "ParkedScenario", "a thread that has come is still expected", In("Backlog.TakeForThread").Remove("_threadsRequested--;") },
        {
            "HangingScenario", "no operation is ever overdue",
            In("PoolState.SetDue").Replace(
                "slot.State == SlotState.Creating ? _settings.CreateTimeout : _settings.PolicyTimeout",
                "ResourceSettings.NoLimit")
        },
        {
            "HangingScenario", "a resource created too late is not destroyed",
            In("PoolRunner.FinishCreate").Remove("DestroyLate(slot, resource);")
        },
        {
            "HangingScenario", "a resource handed over too late is not destroyed",
            In("PoolRunner.HandToThreadPool").Remove("DestroyLate(slot, slot.Resource!);")
        },
        {
            "HangingScenario", "a creation that hangs keeps its place",
            In("PoolState.LookAtSlots").Replace("section.Now < slot.DueAt", "section.Now < slot.DueAt || slot.State == SlotState.Creating")
        },
        {
            "HangingScenario", "a resource checked too late is not destroyed",
            In("PoolRunner.FinishCheck").Remove("DestroyLate(slot, slot.Resource!);")
        },
        {
            "SharedScenario", "a renter is counted after the look at the resource",
            In("SharedResource.TryJoin")
                .Remove("_renters++;")
                .Replace("lease.Slot!.Core.IsStillGood(lease.Slot, looks)", "isStillGood")
                .Replace(
                    """Schedule.Point("shared: joined");""",
                    """
                    bool isStillGood = lease.Slot!.Core.IsStillGood(lease.Slot, looks);
                    lock (_gate)
                    {
                        if (_isClosed)
                        {
                            return false;
                        }

                        _renters++;
                    }
                    """)
        },
        { "SharedScenario", "a resource that its last renter has left is joined", In("SharedResource.Leave").Remove("_isClosed = true;") },
        {
            "SharedScenario", "one renter leaves twice",
            In("SharedTicket.Dispose").Replace(
                "Interlocked.Exchange(ref _shared, null)?.Leave();",
                """SharedResource<T>? shared = _shared; Schedule.Point("planted"); _shared = null; shared?.Leave();""")
        },
    };

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Rows))]
    public void A_planted_bug_is_found(string scenario, string bug) =>
        Bugs.Hunt(scenario, bug, fine: scenario == "HotSlotScenario", output);
}
