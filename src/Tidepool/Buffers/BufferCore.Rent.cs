namespace Tidepool;

/// <content>Renting off the fast path.</content>
internal sealed partial class BufferCore<T>
{
    /// <summary>An idle slot for <paramref name="length"/> elements, its rental counted. The lease begins it.</summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    internal BufferSlot<T> Rent(int length, bool isSlow)
    {
        CheckLength(length);
        ThrowIfRetired();
        Bucket? bucket = FindBucket(length);
        PooledSlot<T> slot = bucket is null ? RentUnkept(length) : RentFrom(bucket, length);
        if (isSlow)
        {
            slot = Prepare(slot, length);
        }

        return slot;
    }

    internal void CheckLength(int length)
    {
        if (length < 0 || length > Array.MaxLength || length > Geometry.Source.MaxLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(length), length, $"The length must be 0 to {Math.Min(Array.MaxLength, Geometry.Source.MaxLength)} elements (pool '{Name}').");
        }
    }

    /// <summary>
    /// A slot from the tiers in their order, or a new one: own magazine and inbox, shared tier, its other form, the next class, the source.
    /// </summary>
    private PooledSlot<T> RentFrom(Bucket bucket, int requested)
    {
        while (true)
        {
            Magazine? magazine = ThreadTier.FindSlow(bucket);
            if (magazine is null)
            {
                return RentLarge(bucket, requested);
            }

            if (magazine.PopSlow() is { } item)
            {
                return (PooledSlot<T>)item;
            }

            Chunk? chunk = bucket.Shared.TryTake() ?? TakeFromTwin(bucket);
            if (chunk is not null)
            {
                item = magazine.Refill(chunk);
                Magazine.PutShared(bucket, chunk);
                if (item is not null)
                {
                    return (PooledSlot<T>)item;
                }

                continue; // the magazine was closed meanwhile
            }

            if (FindNext(bucket) is { } next && !next.Shared.IsEmpty && RentShared(next) is { } larger)
            {
                return larger;
            }

            PooledSlot<T> born = Birth(bucket, requested);
            born.Home = magazine;
            magazine.CountBirth();
            return born;
        }
    }

    /// <summary>A slot of the next class through this thread's magazine of that class, or null when another thread was faster.</summary>
    private static PooledSlot<T>? RentShared(Bucket bucket)
    {
        Magazine? magazine = ThreadTier.FindSlow(bucket);
        Chunk? chunk = magazine is null || magazine.IdleCount > 0 ? null : bucket.Shared.TryTake();
        if (chunk is null)
        {
            return null;
        }

        object? item = magazine!.Refill(chunk);
        Magazine.PutShared(bucket, chunk);
        return (PooledSlot<T>?)item;
    }

    /// <summary>A slot whose size no thread keeps: from the shared tier, or new.</summary>
    private PooledSlot<T> RentLarge(Bucket bucket, int requested)
    {
        Chunk? chunk = bucket.Shared.TryTake() ?? TakeFromTwin(bucket);
        PooledSlot<T> slot;
        if (chunk is null)
        {
            slot = Birth(bucket, requested);
        }
        else
        {
            chunk.Count--;
            ref object? last = ref chunk.Places[chunk.Count];
            slot = (PooledSlot<T>)last!;
            last = null;
            Magazine.PutShared(bucket, chunk);
        }

        Counters.AddRental(bucket.ItemBytes);
        return (PooledSlot<T>)slot.MoveTo(bucket.ClosedHome);
    }

    /// <summary>A slot longer than what the pool keeps: it dies on return.</summary>
    private PooledSlot<T> RentUnkept(int length)
    {
        int made = Math.Max(length, 1); // sources make nothing empty
        var bucket = new Bucket(this, -1, made, BufferGeometry<T>.BytesOf(made)) { IsKept = false };
        PooledSlot<T> slot = Birth(bucket, length);
        Counters.AddRental(bucket.ItemBytes);
        return slot;
    }

    /// <summary>What every rental of a slow pool needs: the return must come back to us, and the content must be as the options say.</summary>
    private PooledSlot<T> Prepare(PooledSlot<T> slot, int length)
    {
        slot = (PooledSlot<T>)slot.MoveTo(slot.Bucket.ClosedHome);
        if (Guard is not null)
        {
            CheckPoison(slot);
        }

        if (Geometry.ClearsRentals)
        {
            slot.Reachable(length).Clear();
        }

        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferRented(slot.GetHashCode(), slot.Capacity, PoolId, slot.Bucket.Id, length);
        }

        return slot;
    }

    /// <summary>Verifies that nobody wrote to the idle buffer. A damaged one leaves the pool, counted as returned, before the throw.</summary>
    private void CheckPoison(PooledSlot<T> slot)
    {
        RentalRecord record = slot.Record ??= new RentalRecord(this, slot, slot.Bucket.ItemBytes, "A leased buffer", slot.Capacity);
        int damage = record.IsPoisoned ? Guard<T>.FindDamage(slot.Whole()) : -1;
        string? history = damage < 0 ? null : record.Where();
        record.IsPoisoned = false;
        if (damage >= 0)
        {
            Counters.AddReturns(1, slot.Bucket.ItemBytes);
            Interlocked.Increment(ref Counters.Dropped);
            Discard(slot.Bucket, [slot]);
            throw Misuse(MisuseKind.WriteAfterReturn, null, $"Element {damage} of {slot.Capacity} was changed; found when the buffer was about to be rented again.", history);
        }

        record.TryBegin(Guard!.SampleStack());
    }

    /// <summary>Idle arrays of the same length as a chunk of slots.</summary>
    private Chunk? TakeFromTwin(Bucket bucket)
    {
        if (bucket.Twin is not { } twin || twin.Shared.TryTake() is not { } chunk)
        {
            return null;
        }

        for (int i = 0; i < chunk.Count; i++)
        {
            ref object? place = ref chunk.Places[i];
            if (place is T[] array)
            {
                var slot = new PooledSlot<T>(this, bucket);
                slot.Adopt(Forget(array));
                slot.ClearReferences(-1); // arrays come back as their renters left them, leases clear
                place = slot;
            }
        }

        return chunk;
    }
}
