using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Building;

/// <summary>The scenarios under points before every statement: the core passes, and bugs that are planted in it are found.</summary>
public class PlantedBugTests(ITestOutputHelper output)
{
    private const int BugSchedules = 100_000; // the search ends at the first failure, for most bugs within some hundreds

    private const string Resting = "Tiers/Magazine.Resting.cs";

    public static TheoryData<string, bool, Mutation> Bugs => new()
    {
        { "ShardScenario", true, new Mutation("Tiers/Magazine.Visit.cs", "if (Volatile.Read(ref _state.Busy) == 0)", "if (Volatile.Read(ref _state.Busy) >= 0)") },
        { "ShardScenario", true, new Mutation("Tiers/Magazine.Visit.cs", "while (Volatile.Read(ref _state.Busy) != 0)", "while (Volatile.Read(ref _state.Busy) > 1)") },
        { "ShardScenario", true, new Mutation("Tiers/Magazine.cs", "Schedule.Point(\"pop: busy\");\n        if (Volatile.Read(ref _state.Stop) == Open", "if (Volatile.Read(ref _state.Stop) <= Paused") },
        { "ExchangeScenario", true, new Mutation("Tiers/Stripe.cs", "internal Chunk? Pop(ref Chunk? spare)\n    {\n        lock (_gate)", "internal Chunk? Pop(ref Chunk? spare)\n    {") },
        { "ExchangeScenario", true, new Mutation("Tiers/Stripe.cs", "internal Chunk? PopEmpty()\n    {\n        lock (_gate)\n        {\n            return _empties.TryPop(out Chunk? chunk) ? chunk : null;", "internal Chunk? PopEmpty()\n    {\n        {\n            return _empties.TryPeek(out Chunk? chunk) ? chunk : null;") },
        { "TicketScenario", true, new Mutation("Tiers/Slot.cs", "var claimed = new TicketState { Generation = generation, Mail = generation };\n            long found = Interlocked.CompareExchange(ref State.Word, claimed.Word, seen.Word);", "long found = seen.Word;\n            State.Mail = generation;") },
        { "HomeScenario", false, new Mutation("Tiers/Slot.cs", "mover = Volatile.Read(ref State.Mail) == 0 ? this : Replace();", "mover = this;") },
        { "TicketScenario", true, new Mutation("Tiers/Inbox.cs", "int found = Interlocked.CompareExchange(ref _tail, tail + 1, tail);", "int found = tail;\n            _tail = tail + 1;") },
        { "TicketScenario", true, new Mutation("Tiers/Magazine.Visit.cs", "EmptyClosedInbox(taken); // posted between the last look and the last write", string.Empty) },
        { "ObjectScenario", true, new Mutation("Leases/ObjectSlot.cs", "return Interlocked.CompareExchange(ref State.Generation, generation + 1, generation) == generation;", "if (State.Generation != generation)\n        {\n            return false;\n        }\n\n        State.Generation = generation + 1;\n        return true;") },
        { "ObjectScenario", true, new Mutation("Objects/PooledObject.cs", "catch\n        {\n            core.RefuseSlot(this);\n            throw;", "catch\n        {\n            throw;") },
        { "ObjectScenario", true, new Mutation("Objects/ObjectCore.Return.cs", "if (!isFit)\n            {\n                RefuseRaw(item);\n            }", "if (!isFit)\n            {\n                CountRefusal();\n            }") },
        { "ObjectScenario", true, new Mutation("Objects/ObjectCore.Rent.cs", "Counters.UndoRental(_slots.ItemBytes);\n            Bury(slot);", "Bury(slot);") },
        { "ObjectScenario", true, new Mutation("Tiers/Magazine.Objects.cs", "Volatile.Write(ref _state.Busy, 1);\n        Schedule.Point(\"push last: busy\");\n        if (Volatile.Read(ref _state.Stop) == Open)", "if (Volatile.Read(ref _state.Stop) == Open)") },
        { "ObjectScenario", true, new Mutation("Tiers/Magazine.Objects.cs", "source.Clear();\n            chunk.Count = last - moved;", "chunk.Count = last - moved + 1;") },
        { "ObjectScenario", true, new Mutation("Tiers/Magazine.Objects.cs", "if (flushed is not null && IsFull)", "if (flushed is not null)") },
        { "ObjectScenario", true, new Mutation("Tiers/Magazine.Objects.cs", "Settle(ref full[0], _state.Hot!);", string.Empty) },
        { "ObjectScenario", true, new Mutation("Tiers/Magazine.Objects.cs", "Settle(ref _state.Hot, Place(0)!);", string.Empty) },
        { "ObjectScenario", true, new Mutation("Objects/ItemStation.cs", "            taken = last;\n            last = null;\n", "            taken = last;\n            chunk.Count++;\n") },
        {
            "RestScenario", true,
            new Mutation(Resting, "Volatile.Write(ref _state.Busy, 1);\n        Schedule.Point(\"rest: busy\");\n", string.Empty)
        },
        { "RestScenario", true, new Mutation(Resting, "(place, item) = (item, place!);", "place = item;") },
        { "RestScenario", true, new Mutation(Resting, "            _state.RestingCount = RestingPlaces - 1;\n", string.Empty) },
        {
            "RestScenario", true,
            new Mutation(Resting, "== Open && _state.RestingCount == RestingPlaces)", "== Open && _state.RestingCount > 5)")
        },
        { "RestScenario", true, new Mutation(Resting, "        _state.Flushed += _state.RestingCount;\n", string.Empty) },
        { "StreamScenario", true, new Mutation("Streams/PooledMemoryStream.cs", "return _core == core && (!IsLeased", "return (!IsLeased") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.Changes.cs", "Interlocked.Or(ref _changes, Tangled);", string.Empty) },
        { "StreamScenario", true, new Mutation("Streams/PooledMemoryStream.cs", "if (core.IsSmall)", "if (core.Capacity >= 0)") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.cs", "CanRest() => Volatile.Read(ref _changes) == 0 && IsSmall", "CanRest() => IsSmall") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.cs", "Volatile.Read(ref _changes) == 0 && IsSmall && Watch is null", "IsSmall && Watch is null && Volatile.Read(ref _changes) == 0") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.Changes.cs", "while ((seen & ~Tangled) != 0)", "while (seen > 1)") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.Changes.cs", "isLast ? seen & Tangled : seen - 1, seen", "seen - 1, seen") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.Changes.cs", "int now = Interlocked.CompareExchange(ref _changes, isLast ? seen & Tangled : seen - 1, seen);", "int now = seen;\n            _changes = isLast ? seen & Tangled : seen - 1;") },
        { "StreamScenario", true, new Mutation("Streams/StreamCore.Changes.cs", "if (isLast)\n", "if (seen == Left)\n") },
        { "ObjectScenario", true, new Mutation("Objects/ObjectCore.cs", "if (TryRetire())\n        {\n            Drain();", "if (TryRetire())\n        {\n            Trimmer.Remove(this);") },
    };

    /// <remarks>Each schedule has several times the points of one in <see cref="ExplorationTests"/>.</remarks>
    [Theory]
    [Trait("Category", "Slow")]
    [InlineData("ShardScenario", 4_000)]
    [InlineData("ExchangeScenario", 4_000)]
    [InlineData("TicketScenario", 4_000)]
    [InlineData("ObjectScenario", 4_000)]
    [InlineData("RestScenario", 1_000)]
    [InlineData("StreamScenario", 2_000)]
    public void The_core_passes_with_a_point_before_every_statement(string scenario, int schedules)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        string? failure = Explorer.Explore(ModelBuild.Compile(scenario, fine: true), schedules);
        Assert.True(failure is null, failure);
    }

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Bugs))]
    public void A_planted_bug_is_found(string scenario, bool fine, Mutation bug)
    {
        string? failure = Explorer.Explore(ModelBuild.Compile(scenario, fine, bug), BugSchedules);
        Assert.True(failure is not null, $"{BugSchedules} schedules of {scenario} did not find the bug {bug} (seed {Explorer.Seed})");
        output.WriteLine(failure);
    }
}
