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
        if (length < 0 || length > Array.MaxLength || length > Settings.Source.MaxLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(length), length, $"The length must be 0 to "
                    + $"{Math.Min(Array.MaxLength, Settings.Source.MaxLength)} elements (pool '{Name}').");
        }
    }

    /// <summary>A slot from the tiers, or a new one.</summary>
    private PooledSlot<T> RentFrom(Bucket bucket, int requested)
    {
        var slot = (PooledSlot<T>)Take(bucket, out bool isNew);
        if (isNew)
        {
            WriteAllocated(slot, PoolId, bucket.Id, requested);
        }

        return slot;
    }

    /// <summary>A slot longer than what the pool keeps: it dies on return.</summary>
    private PooledSlot<T> RentUnkept(int length)
    {
        Bucket bucket = NewUnkeptBucket(length);
        var slot = (PooledSlot<T>)Create(bucket);
        WriteAllocated(slot, PoolId, bucket.Id, length);
        Counters.AddRental(bucket.ItemBytes);
        return slot;
    }

    /// <summary>A bucket of one item that is longer than what the pool keeps.</summary>
    internal Bucket NewUnkeptBucket(int length)
    {
        int made = Math.Max(length, 1); // sources make nothing empty
        return new Bucket(this, -1, made, BufferPoolSettings<T>.BytesOf(made)) { IsKept = false };
    }

    /// <summary>
    /// What every rental of a slow pool needs: the return must come back to us, and the content must be as the options say.
    /// </summary>
    private PooledSlot<T> Prepare(PooledSlot<T> slot, int length)
    {
        slot = (PooledSlot<T>)slot.MoveTo(slot.Bucket.ClosedHome);
        if (Quarantine is not null)
        {
            RentalRecord record = slot.Record ??= new RentalRecord(this, slot, slot.Bucket.ItemBytes, "A leased buffer", slot.Capacity);
            BeginRecord(slot.Bucket, slot, record, slot.Whole(), "buffer");
        }

        if (Settings.ClearsRentals)
        {
            slot.Reachable(length).Clear();
        }

        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferRented(slot.GetHashCode(), slot.Capacity, PoolId, slot.Bucket.Id, length);
        }

        return slot;
    }

    /// <summary>
    /// Begins a recorded rental, and verifies that the idle item was not written to. A damaged one leaves the pool, counted as returned,
    /// before the throw.
    /// </summary>
    private void BeginRecord(Bucket bucket, object item, RentalRecord record, Span<T> whole, string what)
    {
        int damage = record.IsPoisoned ? Quarantine<T>.FindDamage(whole) : -1;
        string? history = damage < 0 ? null : record.Where();
        record.IsPoisoned = false;
        if (damage >= 0)
        {
            Counters.AddReturns(1, bucket.ItemBytes);
            EvictDropped(bucket, [item]);
            throw Misuse(
                MisuseKind.WriteAfterReturn,
                null,
                $"Element {damage} of {whole.Length} was changed; found when the {what} was about to be rented again.",
                history);
        }

        record.TryBegin(Quarantine!.Stacks.Sample());
    }
}
