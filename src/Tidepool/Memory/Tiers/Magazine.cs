using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The idle items that one thread holds for one bucket: a hot one, a short stack below it, and below that the slots that came home from
/// other threads. Its owner works on it with plain loads and stores; all others must pause it first.
/// </summary>
/// <remarks>
/// The shard protocol (an asymmetric Dekker lock, as in Dice, Dave et al., "Asymmetric Dekker Synchronization", 2001):
/// <list type="number">
/// <item>The owner writes <c>Busy = 1</c>, then reads <c>Stop</c>. 0: it works and writes <c>Busy = 0</c> (release). Otherwise it leaves
/// at once.</item>
/// <item>A visitor writes <c>Stop = 1</c> by compare-and-swap, calls <see cref="Interlocked.MemoryBarrierProcessWide"/>, then reads
/// <c>Busy</c> (acquire). 0: the owner is outside and will see <c>Stop</c>; the visitor works and writes <c>Stop = 0</c> (release). 1: it
/// gives up.</item>
/// </list>
/// The barrier makes the owner's store-then-load as strong as a fence, at no cost to the owner. Closing is a visit that never ends:
/// <c>Stop</c> goes to 2 (shut), the visitor waits for the owner to leave, empties the magazine and marks it as closed.
/// The counters tell rentals without counting returns: Returned = items - Refilled + Rents + Flushed.
/// </remarks>
internal sealed partial class Magazine
{
    private const int Open = 0;
    private const int Paused = 1;
    private const int Shut = 2;

    // Read by every thread that returns a slot of this home; written once.
    private bool _isClosed;
    internal readonly StackIdentity Owner;
    internal readonly Bucket Bucket;
    internal readonly Inbox Inbox;

    // Keeps what the owner writes off the cache line that other threads read: both are structs, laid out behind all fields above.
    private readonly CacheLine _padding;
    private State _state;

    internal Magazine(Bucket bucket, StackIdentity owner, int capacity)
    {
        Bucket = bucket;
        Inbox = new Inbox(bucket.InboxLimit, bucket.WideInboxLimit);
        Owner = owner;
        _state.Capacity = capacity;
        _state.Stack = bucket.HoldsObjects ? new object?[bucket.ChunkCapacity] : null!;
        _state.Resting = bucket.IsRested ? new object?[RestingPlaces] : null!;
        _padding = default;
    }

    /// <summary>
    /// A magazine whose whole capacity is charged to the budget at once, so that rentals need not count; with room for the hot item only
    /// when there is not more.
    /// </summary>
    /// <returns>Null when there is no room at all.</returns>
    internal static Magazine? TryMake(Bucket bucket, StackIdentity owner, bool isPrivate)
    {
        int capacity = bucket.MagazineCapacity;
        long charge = ((capacity + 1) * bucket.ItemBytes) + bucket.RestingBytes;
        if (!bucket.Pool.Budget.TryCharge(charge))
        {
            capacity = 0;
            charge = bucket.ItemBytes + bucket.RestingBytes;
            if (!bucket.Pool.Budget.TryCharge(charge))
            {
                return null;
            }
        }

        return new Magazine(bucket, owner, capacity) { Charge = charge, IsPrivate = isPrivate };
    }

    /// <summary>A closed magazine: the home of slots that no thread may keep without the pool's slow path.</summary>
    internal static Magazine NewClosed(Bucket bucket) => new(bucket, StackIdentity.None, 0) { _state = { Stop = Shut }, _isClosed = true };

    private Magazine()
    {
        Bucket = null!;
        Owner = StackIdentity.None;
        Inbox = new Inbox(0, 0);
        _state.Stop = Shut;
        _isClosed = true;
        _padding = default;
    }

    /// <summary>
    /// The magazine of no thread: always empty, always closed. Stands in unused places of tables and is the home of slots that have none.
    /// </summary>
    internal static Magazine None { get; } = new();

    /// <summary>Memory owners that wait for reuse, first in first out. Only the owning thread touches it.</summary>
    internal OwnerRing? Owners { get; set; }

    /// <summary>
    /// The bytes charged to the budget for this magazine, without what a wide inbox is charged. Written by the owner, last by the
    /// thread that closes the magazine; others read it after that.
    /// </summary>
    internal long Charge { get; private set; }

    /// <summary>Whether the magazine is closed or about to be.</summary>
    internal bool IsShut => Volatile.Read(ref _state.Stop) == Shut;

    /// <summary>Whether the magazine is closed. Costs other threads nothing of the owner's: it lies apart from what that writes.</summary>
    internal bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Whether the caller is the owner, by the address of one of its locals.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool IsOwnedBy(nuint here) => Owner.Is(here);

    /// <summary>Takes the newest item. Only for the owning thread. No locked instruction, no call.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? TryPop()
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("pop: busy");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            object? item;
            if (_state.HotFull != 0)
            {
                item = _state.Hot;
                _state.HotFull = 0;
                _state.Rents++;
                Schedule.Point("pop: hot");
                Volatile.Write(ref _state.Busy, 0);
                return item;
            }

            int last = _state.Count - 1;
            if (last >= 0)
            {
                item = Items.At(ref _state.Items, last);
                _state.Count = last;
                _state.Rents++;
                Schedule.Point("pop: item");
                Volatile.Write(ref _state.Busy, 0);
                return item;
            }
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return null;
    }

    /// <summary>
    /// Ends the rental of <paramref name="generation"/> and keeps the slot. Only for the owning thread, and only for slots whose home
    /// this is.
    /// </summary>
    /// <param name="slot">The slot.</param>
    /// <param name="generation">The ticket's generation.</param>
    /// <param name="clear">What to clear once the return is certain, or <see cref="NoClear"/>.</param>
    /// <returns>False when the slow path must decide: paused, closed, full, or the ticket is retired or posted. Nothing was changed
    /// then.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryReturn<TClear>(Slot slot, int generation, TClear clear)
        where TClear : struct, IClear
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("return: busy");
        if (Volatile.Read(ref _state.Stop) == Open && slot.State.Generation == generation && slot.State.Posted == 0)
        {
            Schedule.Point("return: checked");
            if (_state.HotFull == 0)
            {
                clear.Run();
                slot.State.Generation = generation + 1;

                // The place often still holds this very slot: comparing is cheaper than the write barrier.
                if (_state.Hot != slot)
                {
                    _state.Hot = slot;
                }

                _state.HotFull = 1;
                Volatile.Write(ref _state.Busy, 0);
                return true;
            }

            int count = _state.Count;
            if (count < _state.Capacity)
            {
                clear.Run();
                slot.State.Generation = generation + 1;
                ref object? place = ref Items.At(ref _state.Items, count);
                if (place != slot)
                {
                    place = slot;
                }

                _state.Count = count + 1;
                Volatile.Write(ref _state.Busy, 0);
                return true;
            }
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return false;
    }

    /// <summary>Keeps a raw item (an array). Only for the owning thread.</summary>
    /// <param name="item">The item.</param>
    /// <param name="exact">The only type that may be kept, or null when the caller knows it. Asked for items that did not lie here
    /// last.</param>
    /// <returns>False when the slow path must decide: paused, closed, full, another type, or the item is one of the last few returned
    /// (returned twice).</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryPush(object item, Type? exact)
    {
        bool kept = false;
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("push: busy");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            if (_state.HotFull == 0)
            {
                if (_state.Hot == item || exact is null || item.GetType() == exact)
                {
                    if (_state.Hot != item)
                    {
                        _state.Hot = item;
                    }

                    _state.HotFull = 1;
                    kept = true;
                }
            }
            else if (_state.Hot != item)
            {
                kept = TryPushBelow(item, exact);
            }
        }

        Volatile.Write(ref _state.Busy, 0);
        return kept;
    }

    /// <summary>Keeps an item on the stack unless it lies there.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryPushBelow(object item, Type? exact)
    {
        int count = _state.Count;
        if (count >= _state.Capacity || Items.Contains(ref _state.Items, item, count))
        {
            return false;
        }

        ref object? place = ref Items.At(ref _state.Items, count);
        if (place != item)
        {
            if (exact is not null && item.GetType() != exact)
            {
                return false;
            }

            place = item;
        }

        _state.Count = count + 1;
        return true;
    }

    /// <summary>What the owner writes, and <c>Stop</c>, which visitors write rarely.</summary>
    internal struct State
    {
        internal int Busy;
        internal int Stop;
        internal int HotFull;
        internal int Count;
        internal int Capacity;
        internal int SurplusCount;
        internal long Rents;
        internal long Refilled;
        internal long Flushed;
        internal long SeenRents;
        internal long FlushedAtRents; // arrays only
        internal int QuietEpochs;
        internal object? Hot;
        internal Slot? Surplus;
        internal Items Items;

        // Slots only.
        internal object?[]? Outgoing;
        internal int OutgoingCount;
        internal int Sent;

        // Objects only.
        internal object?[] Stack;
        internal Chunk? Spare;

        // Items that rest only.
        internal object?[] Resting;
        internal int RestingCount;
        internal int NextPlace;
    }
}
