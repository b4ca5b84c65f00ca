using Tidepool.Models.Scheduling;
using Xunit.Abstractions;
using static Tidepool.Models.Building.Mutation;

namespace Tidepool.Models.Building;

/// <summary>The scenarios under points before every statement: the core passes, and bugs that are planted in it are found.</summary>
public class PlantedBugTests(ITestOutputHelper output)
{
    public static TheoryData<string, string> Rows => Bugs.Rows;

    internal static PlantedBugs Bugs { get; } = new()
    {
        {
            "ShardScenario", "a visitor works beside the owner",
            In("Magazine.TryBegin").Replace("Volatile.Read(ref _state.Busy) == 0", "Volatile.Read(ref _state.Busy) >= 0")
        },
        {
            "ShardScenario", "a closing does not wait for the owner to leave",
            In("Magazine.FinishClose").Replace("Volatile.Read(ref _state.Busy) != 0", "Volatile.Read(ref _state.Busy) > 1")
        },
        {
            "ShardScenario", "the owner takes from a paused magazine",
            In("Magazine.TryPop").Replace("Volatile.Read(ref _state.Stop) == Open", "Volatile.Read(ref _state.Stop) <= Paused")
        },
        { "ExchangeScenario", "a chunk is taken without the lock", In("Stripe.Pop").Unlock() },
        {
            "ExchangeScenario", "a lock is taken by a plain store",
            In("ShortLock.Enter").Replace(
                "if (Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0) { Wait(); }",
                "if (Volatile.Read(ref _isHeld) != 0) { Wait(); } else { _isHeld = 1; }")
        },
        {
            "ExchangeScenario", "a thread that waited works beside another one",
            In("ShortLock.Wait").Remove("Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0")
        },
        {
            "ExchangeScenario", "a chunk that was opened stays below",
            In("Stripe.OpenTop").Remove("_chunks.RemoveAt(last);")
        },
        {
            "ObjectScenario", "a returned single item is put under no lock",
            In("Stripe.ReturnOne").Replace("singles.Add(item);", "_gate.Exit(); singles.Add(item);")
        },
        {
            "TwiceScenario", "a lock is tried by a plain store",
            In("ShortLock.TryEnter").Replace(
                "Interlocked.CompareExchange(ref _isHeld, 1, 0) == 0", "Volatile.Read(ref _isHeld) == 0 && (_isHeld = 1) == 1")
        },
        {
            "TwiceScenario", "a raw item that lies idle is taken again",
            In("Stripe.ReturnOne").Replace("singles.HoldsLately(item, oldest: 0)", "singles.IsFull")
        },
        {
            "TwiceScenario", "a raw item is compared outside of the lock",
            In("Stripe.ReturnOne").Replace(
                "if (!hasTicket && singles.HoldsLately(item, oldest: 0)) { _gate.Exit(); return ReturnOutcome.Retired; }",
                "_gate.Exit(); if (!hasTicket && singles.HoldsLately(item, 0)) { return ReturnOutcome.Retired; } _gate.Enter();")
        },
        {
            "TwiceScenario", "the item that was returned last is not compared",
            In("Chunk.HoldsLately").Replace("Count - 1", "Count - 2")
        },
        {
            "TwiceScenario", "a raw item that was refused is kept elsewhere",
            In("ObjectCore.ReturnRaw").Replace("outcome == ReturnOutcome.Retired", "outcome > ReturnOutcome.Closed")
        },
        {
            "ExchangeScenario", "an empty chunk is handed out and stays",
            In("Stripe.PopEmpty").Remove("_gate.Enter();")
                .Replace("_empties.TryPop(out Chunk? chunk)", "_empties.TryPeek(out Chunk? chunk)")
        },
        {
            "ExchangeScenario", "single items that were trimmed stay counted",
            In("Chunk.MoveOldest").Remove("Count -= count;")
        },
        {
            "ExchangeScenario", "a large buffer passes its home with its ticket",
            In("BufferCore.ReturnPastHome").Replace("!home.TryTakeBack(slot, generation, here)", "!slot.IsActive(generation)")
        },
        {
            "TicketScenario", "a ticket is claimed by a plain store",
            In("Slot.TryClaim").Replace(
                "long found = Interlocked.CompareExchange(ref State.Word, TicketState.Of(generation, generation), seen);",
                "long found = seen; State.Posted = generation;")
        },
        {
            "HomeScenario", "a slot with a stale posting changes its home",
            In("Slot.MoveTo").Replace("Volatile.Read(ref State.Posted) == 0 ? this : Replace()", "this")
        },
        {
            "TicketScenario", "a place in the inbox is taken by a plain store",
            In("Inbox.Push").Replace(
                "int found = Interlocked.CompareExchange(ref _tail.Value, tail + count, tail);",
                "int found = tail; _tail.Value = tail + count;")
        },
        {
            "TicketScenario", "what is posted during a closing stays there",
            In("Magazine.Close").Remove("EmptyClosedInbox(taken);")
        },
        {
            "OutboxScenario", "an outbox is emptied beside its owner",
            In("Magazine.TryPostLater").Replace("!TryEnterAtOnce()", "IsClosed")
        },
        {
            "OutboxScenario", "what waits in an outbox ends with its magazine",
            In("Magazine.FinishClose").Remove("taken.AddRange(PostOrTake(Items.Span(ref outgoing)[..count]) ?? []);")
        },
        {
            "OutboxScenario", "a slot for a home that has closed meanwhile is lost",
            In("Magazine.TakeCrowd").Remove("EmptyClosedInbox(taken);")
        },
        {
            "OutboxScenario", "an emptied outbox still counts its slots",
            In("Magazine.TakeOutgoing").Remove("Volatile.Write(ref _state.OutgoingCount, 0);")
        },
        {
            "OutboxScenario", "statistics count what goes home in both places",
            In("TieredPool.GetStatistics").Replace(
                "ThreadTier.ForEach(buckets, AddMagazine); ThreadTier.ForEach(buckets, AddOutbox);",
                "ThreadTier.ForEach(buckets, AddOutbox); ThreadTier.ForEach(buckets, AddMagazine);")
        },
        {
            "InboxScenario", "an inbox is made wide after its magazine has closed",
            In("Inbox.Close").Replace("Interlocked.Exchange(ref _limit, 0) == _wide", "_limit == _wide")
        },
        {
            "InboxScenario", "a slot is rented again before its posting is settled",
            In("Magazine.TakeHome").Replace("TryEndPosted(slot, owner: true)", "slot.IsPosted")
        },
        {
            "InboxScenario", "two threads make an inbox wide",
            In("Inbox.TryWiden").Replace(
                "Interlocked.CompareExchange(ref _limit, _wide, _narrow) == _narrow", "(_limit = _wide) == _wide")
        },
        {
            "CountScenario", "statistics count every magazine twice",
            In("TieredPool.GetStatistics").Replace(
                "ThreadTier.ForEach(buckets, AddMagazine);",
                "ThreadTier.ForEach(buckets, AddMagazine); ThreadTier.ForEach(buckets, AddMagazine);")
        },
        {
            "HandleScenario", "a poster settles while the owner returns",
            In("Magazine.TrySend").Remove("WaitForOwner();")
        },
        {
            "HandleScenario", "an owner returns without the busy flag",
            In("Magazine.TryReturnPrivate").Remove("Volatile.Write(ref _state.Busy, 1);")
        },
        {
            "ObjectScenario", "an object's ticket ends by a plain store",
            In("ObjectSlot.TryEnd").Replace(
                "return Interlocked.CompareExchange(ref State.Generation, generation + 1, generation) == generation;",
                "if (State.Generation != generation) { return false; } State.Generation = generation + 1; return true;")
        },
        {
            "ObjectScenario", "an object is lost when its reset throws",
            In("PooledObject.TryReturn").Replace("core.RefuseSlot(this); throw;", "throw;")
        },
        {
            "ObjectScenario", "a raw object that cannot be reset is not destroyed",
            In("ObjectCore.ResetRaw").Replace("RefuseRaw(item);", "CountRefusal();")
        },
        {
            "ObjectScenario", "a rental that found its object unfit stays counted",
            In("ObjectCore.RentSlot").Remove("Counters.UndoRental(_slots.ItemBytes);")
        },
        {
            "ObjectScenario", "an object is kept without the busy flag",
            In("Magazine.TryPushLast").Remove("Volatile.Write(ref _state.Busy, 1);")
        },
        {
            "ObjectScenario", "a chunk keeps an object that a magazine has taken",
            In("Magazine.RefillBySwap").Replace("source.Clear(); chunk.Count = last - moved;", "chunk.Count = last - moved + 1;")
        },
        {
            "ObjectScenario", "a magazine that has room makes room again",
            In("Magazine.FlushIfFull").Replace("flushed is null || !IsFull", "flushed is null")
        },
        {
            "ObjectScenario", "the hot object does not leave with the others",
            In("Magazine.FlushBySwap").Remove("StoreIfDifferent(ref full[0], _state.Hot!);")
        },
        {
            "ObjectScenario", "a refilled magazine has an old hot object",
            In("Magazine.RefillBySwap").Remove("StoreIfDifferent(ref _state.Hot, Place(0)!);")
        },
        {
            "ObjectScenario", "an object that was rented stays in its chunk",
            In("Chunk.RemoveLast").Replace("Places[Count] = null;", "Count++;")
        },
        {
            "RestScenario", "an item is laid to rest without the busy flag",
            In("Magazine.TryRest").Remove("Volatile.Write(ref _state.Busy, 1);")
        },
        {
            "RestScenario", "the item that has rested longest is overwritten",
            In("Magazine.RestInstead").Replace("(place, item) = (item, place!);", "place = item;")
        },
        {
            "RestScenario", "an item is rented and rests on",
            In("Magazine.TryTakeRested").Remove("_state.RestingCount = RestingPlaces - 1;")
        },
        {
            "RestScenario", "an item is rented before it has rested",
            In("Magazine.TryTakeRested").Replace("_state.RestingCount == RestingPlaces", "_state.RestingCount > 5")
        },
        {
            "RestScenario", "resting items leave uncounted",
            In("Magazine.TakeResting").Remove("_state.Flushed += _state.RestingCount;")
        },
        { "StreamScenario", "a disposed stream still has its core", In("PooledMemoryStream.Has").Remove("_core == core") },
        {
            "StreamScenario", "two changes at a time go unnoticed",
            In("StreamCore.BeginChange").Remove("Interlocked.Or(ref _changes, Tangled);")
        },
        {
            "StreamScenario", "a stream with segments is reset as a small one",
            In("PooledMemoryStream.TryReset").Replace("core.IsSmall", "core.Capacity >= 0")
        },
        {
            "StreamScenario", "a core rests while a change is under way",
            In("StreamCore.CanRest").Remove("Volatile.Read(ref _changes) == 0")
        },
        {
            "StreamScenario", "a disposal looks for changes last",
            In("StreamCore.CanRest").Replace(
                "Volatile.Read(ref _changes) == 0 && IsSmall && Watch is null",
                "IsSmall && Watch is null && Volatile.Read(ref _changes) == 0")
        },
        {
            "StreamScenario", "a disposal overlooks a single change",
            In("StreamCore.RetireAfterChanges").Replace("(seen & ~Tangled) != 0", "seen > 1")
        },
        {
            "StreamScenario", "the last change leaves its mark on the core",
            In("StreamCore.EndChange").Replace("isLast ? seen & Tangled : seen - 1", "seen - 1")
        },
        {
            "StreamScenario", "a change ends by a plain store",
            In("StreamCore.EndChange").Replace(
                "int now = Interlocked.CompareExchange(ref _changes, isLast ? seen & Tangled : seen - 1, seen);",
                "int now = seen; _changes = isLast ? seen & Tangled : seen - 1;")
        },
        {
            "StreamScenario", "the last change does not release the core",
            In("StreamCore.EndChange").Replace("if (isLast) { Retire(); }", "if (seen == Left) { Retire(); }")
        },
        {
            "ObjectScenario", "a pool that has ended keeps its idle objects",
            In("ObjectCore.Retire").Replace("Drain();", "Trimmer.Remove(this);")
        },
    };

    /// <remarks>Each schedule has several times the points of one in <see cref="ExplorationTests"/>.</remarks>
    [Theory]
    [Trait("Category", "Slow")]
    [InlineData("ShardScenario", 4_000)]
    [InlineData("ExchangeScenario", 4_000)]
    [InlineData("TicketScenario", 4_000)]
    [InlineData("OutboxScenario", 2_000)]
    [InlineData("InboxScenario", 2_000)]
    [InlineData("CountScenario", 2_000)]
    [InlineData("HandleScenario", 4_000)]
    [InlineData("ObjectScenario", 4_000)]
    [InlineData("TwiceScenario", 2_000)]
    [InlineData("RestScenario", 1_000)]
    [InlineData("StreamScenario", 2_000)]
    [InlineData("HotSlotScenario", 4_000)]
    public void The_core_passes_with_a_point_before_every_statement(string scenario, int schedules)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        string? failure = Explorer.Explore(ModelBuild.Compile(scenario, fine: true), schedules);
        Assert.True(failure is null, failure);
    }

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Rows))]
    public void A_planted_bug_is_found(string scenario, string bug) =>
        Bugs.Hunt(scenario, bug, fine: scenario != "HomeScenario", output);
}
