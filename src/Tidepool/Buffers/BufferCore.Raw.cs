using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Whole arrays without a lease: the compatibility path.</content>
internal sealed partial class BufferCore<T>
{
    private readonly ConditionalWeakTable<T[], RentalRecord> _records = [];
    private readonly ConditionalWeakTable<T[], object> _made = []; // the tags of arrays that are out or idle as arrays, for sources that care

    /// <summary>An idle slot whose home is the magazine of a thread handle; more may be put in with it.</summary>
    internal BufferSlot<T> RefillHandle(Magazine magazine)
    {
        ThrowIfRetired();
        if (magazine.PopSlow() is { } item)
        {
            return (PooledSlot<T>)item;
        }

        Bucket bucket = magazine.Bucket;
        if (!magazine.IsPrivate)
        {
            return RentFrom(bucket, bucket.ItemLength);
        }

        if ((bucket.Shared.TryTake() ?? TakeFromTwin(bucket)) is { } chunk)
        {
            item = magazine.Refill(chunk);
            Magazine.PutShared(bucket, chunk);
            return (PooledSlot<T>)item!;
        }

        PooledSlot<T> born = Birth(bucket, bucket.ItemLength);
        born.Home = magazine;
        magazine.CountBirth();
        return born;
    }

    /// <summary>Takes back what the magazine of a thread handle holds and closes it.</summary>
    internal static void CloseHandle(Magazine magazine)
    {
        if (magazine.IsClosed)
        {
            return;
        }

        var items = new List<object?>();
        magazine.Close(items);
        ThreadTier.CloseHandle();
        magazine.Bucket.Station.Budget.Refund(magazine.Charge);
        Magazine.PutShared(magazine.Bucket, items);
    }

    internal override void ReturnItem(Bucket bucket, object item)
    {
        var array = (T[])item;
        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferReturned(array.GetHashCode(), array.Length, PoolId);
        }

        if (bucket.IsKept)
        {
            ReturnArray(bucket, array);
        }
        else
        {
            DropArray(array);
        }
    }

    /// <summary>An idle array of the bucket's length from the tiers, or a new one.</summary>
    internal T[] RentArray(Bucket bucket, int requested, int poolId, bool cleared)
    {
        T[] array = TakeArray(bucket, requested, poolId, cleared);
        if (Guard is not null)
        {
            CheckPoison(bucket, array);
        }

        if (Geometry.ClearsRentals)
        {
            Array.Clear(array);
        }

        return array;
    }

    /// <summary>An array longer than what the pool keeps.</summary>
    internal T[] RentUnkeptArray(int length, int poolId, bool cleared)
    {
        cleared |= Geometry.Clear == ClearMode.OnRent;
        T[] array = length <= Geometry.Source.MaxLength ? BirthArray(length, length, poolId, cleared) : new T[length];
        Counters.AddRental(BufferGeometry<T>.BytesOf(length));
        if (Guard is not null)
        {
            _records.GetOrAdd(array, NewRecord).TryBegin(Guard.SampleStack());
        }

        return array;
    }

    /// <summary>Ends the rental of an array that is kept.</summary>
    /// <exception cref="PoolMisuseException">The array is not out: it was returned before, or is foreign (full checks).</exception>
    internal void ReturnArray(Bucket bucket, T[] array)
    {
        if (Guard is not null)
        {
            EndRecord(array);
        }

        Scrub(array);
        if (Guard is null)
        {
            Keep(bucket, array);
            return;
        }

        Guard<T>.Fill(array);
        FindRecord(array)!.IsPoisoned = true;
        LetRest(array, bucket.ItemBytes);
    }

    /// <summary>Ends the rental of an array that is not kept.</summary>
    internal void DropArray(T[] array)
    {
        if (Guard is not null)
        {
            EndRecord(array);
        }

        Scrub(array);
        Counters.AddReturns(1, BufferGeometry<T>.BytesOf(array.Length));
        Interlocked.Increment(ref Counters.Dropped);
        WriteDropped(-1, [array]);
        if (IsOurs(array))
        {
            Free(Forget(array));
        }
    }

    /// <summary>Does what the options ask for with the content of an array whose rental has ended.</summary>
    private void Scrub(T[] array)
    {
        if (Geometry.Secrets)
        {
            Wipe(array);
        }
        else if (Geometry.Clear == ClearMode.OnReturn)
        {
            Array.Clear(array);
        }
    }

    /// <summary>
    /// Whether an array may be kept. Pools of heap arrays take foreign ones, as ArrayPool does; where arrays have a property that a foreign one lacks
    /// (pinned memory), only those that the source made.
    /// </summary>
    internal bool IsOurs(T[] array) => Geometry.TakesForeignArrays || _made.TryGetValue(array, out _);

    private T[] TakeArray(Bucket bucket, int requested, int poolId, bool cleared)
    {
        while (ThreadTier.FindSlow(bucket) is { } magazine)
        {
            if (magazine.PopSlow() is { } item)
            {
                return (T[])item;
            }

            if ((bucket.Shared.TryTake() ?? TakeArraysFromTwin(bucket)) is { } chunk)
            {
                item = magazine.Refill(chunk);
                Magazine.PutShared(bucket, chunk);
                if (item is not null)
                {
                    return (T[])item;
                }

                continue; // the magazine was closed meanwhile
            }

            T[] born = BirthArray(bucket.ItemLength, requested, poolId, cleared);
            magazine.CountBirth();
            return born;
        }

        return TakeLargeArray(bucket, requested, poolId, cleared);
    }

    private T[] TakeLargeArray(Bucket bucket, int requested, int poolId, bool cleared)
    {
        T[] array;
        if ((bucket.Shared.TryTake() ?? TakeArraysFromTwin(bucket)) is { } chunk)
        {
            chunk.Count--;
            ref object? last = ref chunk.Places[chunk.Count];
            array = (T[])last!;
            last = null;
            Magazine.PutShared(bucket, chunk);
        }
        else
        {
            array = BirthArray(bucket.ItemLength, requested, poolId, cleared);
        }

        Counters.AddRental(bucket.ItemBytes);
        return array;
    }

    /// <summary>Idle slots of the same length as a chunk of arrays; the slots die.</summary>
    private Chunk? TakeArraysFromTwin(Bucket bucket)
    {
        if (bucket.Twin is not { } twin || twin.Shared.TryTake() is not { } chunk)
        {
            return null;
        }

        for (int i = 0; i < chunk.Count; i++)
        {
            ref object? place = ref chunk.Places[i];
            if (place is PooledSlot<T> slot)
            {
                slot.Record?.Forget();
                Remember(slot.Array!, slot.Tag);
                place = slot.Array;
            }
        }

        return chunk;
    }

    private void Remember(T[] array, object? tag)
    {
        if (!Geometry.TakesForeignArrays)
        {
            _made.AddOrUpdate(array, tag ?? this);
        }
    }

    /// <summary>An array that is one no longer: the buffer that the source made, with its tag.</summary>
    private SourceBuffer<T> Forget(T[] array)
    {
        object? tag = null;
        if (!Geometry.TakesForeignArrays && _made.TryGetValue(array, out tag))
        {
            _made.Remove(array);
        }

        if (FindRecord(array) is { } record)
        {
            record.Forget();
            _records.Remove(array);
        }

        return new SourceBuffer<T>(array, 0, array.Length, tag == this ? null : tag);
    }

    private RentalRecord? FindRecord(T[] array) =>
        Guard is not null && _records.TryGetValue(array, out RentalRecord? record) ? record : null;

    private RentalRecord NewRecord(T[] array) => new(this, null, BufferGeometry<T>.BytesOf(array.Length), "An array", array.Length);

    private Bucket? FindRawBucket(T[] array)
    {
        lock (_gate)
        {
            return _raws.SelectMany(static r => r.Made()).FirstOrDefault(b => b.ItemLength == array.Length);
        }
    }

    private void CheckPoison(Bucket bucket, T[] array)
    {
        RentalRecord record = _records.GetOrAdd(array, NewRecord);
        int damage = record.IsPoisoned ? Guard<T>.FindDamage(array) : -1;
        string? history = damage < 0 ? null : record.Where();
        record.IsPoisoned = false;
        if (damage >= 0)
        {
            Counters.AddReturns(1, bucket.ItemBytes);
            Interlocked.Increment(ref Counters.Dropped);
            Discard(bucket, [array]);
            throw Misuse(MisuseKind.WriteAfterReturn, null, $"Element {damage} of {array.Length} was changed; found when the array was about to be rented again.", history);
        }

        record.TryBegin(Guard!.SampleStack());
    }

    private void EndRecord(T[] array)
    {
        if (FindRecord(array) is not { } record)
        {
            throw Misuse(MisuseKind.ForeignReturn, MisuseText.OneArray(array.Length));
        }

        if (!record.TryEnd(CallerStack.Capture))
        {
            throw Misuse(MisuseKind.DoubleReturn, MisuseText.OneArray(array.Length), record.Where());
        }
    }

    private void OnTwice(object item)
    {
        PoolMisuseException misuse = Misuse(MisuseKind.DoubleReturn, MisuseText.OneArray(((T[])item).Length), "It is idle in the pool already.");
        if (Geometry.Checks != PoolChecks.Off)
        {
            throw misuse;
        }
    }
}
