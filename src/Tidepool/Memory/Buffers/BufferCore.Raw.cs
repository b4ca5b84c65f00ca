using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Whole arrays without a lease: the compatibility path.</content>
internal sealed partial class BufferCore<T>
{
    private readonly ConditionalWeakTable<T[], RentalRecord> _records = [];
    // The tags of arrays that are out or idle as arrays, for sources that care.
    private readonly ConditionalWeakTable<T[], object> _made = [];

    /// <summary>An idle slot whose home is the magazine of a thread handle; more may be put in with it.</summary>
    internal BufferSlot<T> RefillHandle(Magazine magazine)
    {
        ThrowIfRetired();
        Bucket bucket = magazine.Bucket;
        bool isNew = false;
        object? item = magazine.IsPrivate ? TakeThrough(magazine, out isNew) : null;
        if (item is null)
        {
            return RentFrom(bucket, bucket.ItemLength); // the budget has no room for a handle's magazine
        }

        var slot = (PooledSlot<T>)item;
        if (isNew)
        {
            WriteAllocated(slot, PoolId, bucket.Id, bucket.ItemLength);
        }

        return slot;
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
            EvictArray(array);
        }
    }

    /// <summary>An idle array of the bucket's length from the tiers, or a new one.</summary>
    internal T[] RentArray(Bucket bucket, int requested, int poolId, bool cleared)
    {
        var array = (T[])Take(bucket, out bool isNew);
        if (isNew)
        {
            Begin(array, requested, poolId, cleared);
        }

        if (Quarantine is not null)
        {
            BeginRecord(bucket, array, _records.GetOrAdd(array, NewRecord), array, "array");
        }

        if (Settings.ClearsRentals)
        {
            Array.Clear(array);
        }

        return array;
    }

    /// <summary>An array longer than what the pool keeps.</summary>
    internal T[] RentUnkeptArray(int length, int poolId, bool cleared)
    {
        cleared |= Settings.Clear == ClearMode.OnRent;
        T[] array;
        if (length <= Settings.Source.MaxLength)
        {
            array = MakeArray(length);
            CountMiss(length, BufferPoolSettings<T>.BytesOf(length), isKept: false);
            Begin(array, length, poolId, cleared);
        }
        else
        {
            array = new T[length];
        }

        Counters.AddRental(BufferPoolSettings<T>.BytesOf(length));
        if (Quarantine is not null)
        {
            _records.GetOrAdd(array, NewRecord).TryBegin(Quarantine.Stacks.Sample());
        }

        return array;
    }

    /// <summary>Ends the rental of an array that is kept.</summary>
    /// <exception cref="PoolMisuseException">The array is not out: it was returned before, or is foreign (full checks).</exception>
    internal void ReturnArray(Bucket bucket, T[] array)
    {
        if (Quarantine is not null)
        {
            EndRecord(array);
        }

        Scrub(array);
        if (Quarantine is null)
        {
            Keep(bucket, array);
            return;
        }

        Quarantine<T>.Fill(array);
        FindRecord(array)!.IsPoisoned = true;
        LetRest(array, bucket.ItemBytes);
    }

    /// <summary>Ends the rental of an array that is not kept.</summary>
    internal void EvictArray(T[] array)
    {
        if (Quarantine is not null)
        {
            EndRecord(array);
        }

        Scrub(array);
        Counters.AddReturns(1, BufferPoolSettings<T>.BytesOf(array.Length));
        Interlocked.Increment(ref Counters.Dropped);
        WriteDropped(-1, [array]);
        if (IsOurs(array))
        {
            Free(Unregister(array));
        }
    }

    /// <summary>Does what the options ask for with the content of an array whose rental has ended.</summary>
    private void Scrub(T[] array)
    {
        if (Settings.Secrets)
        {
            Wipe(array);
        }
        else if (Settings.Clear == ClearMode.OnReturn)
        {
            Array.Clear(array);
        }
    }

    /// <summary>
    /// Whether an array may be kept. Pools of heap arrays take foreign ones, as ArrayPool does; where arrays have a property that a
    /// foreign one lacks (pinned memory), only those that the source made.
    /// </summary>
    internal bool IsOurs(T[] array) => Settings.TakesForeignArrays || _made.TryGetValue(array, out _);

    /// <summary>Clears a new array where its renter expects that, and reports it.</summary>
    private void Begin(T[] array, int requested, int poolId, bool cleared)
    {
        if (cleared && !Settings.ClearsNew && !BufferPoolSettings<T>.HoldsReferences)
        {
            Array.Clear(array);
        }

        WriteAllocated(array, poolId, -1, requested);
    }

    private void Remember(T[] array, object? tag)
    {
        if (!Settings.TakesForeignArrays)
        {
            _made.AddOrUpdate(array, tag ?? this);
        }
    }

    /// <summary>An array that is one no longer: the buffer that the source made, with its tag.</summary>
    private SourceBuffer<T> Unregister(T[] array)
    {
        object? tag = null;
        if (!Settings.TakesForeignArrays && _made.TryGetValue(array, out tag))
        {
            _made.Remove(array);
        }

        if (FindRecord(array) is { } record)
        {
            record.StopWatching();
            _records.Remove(array);
        }

        return new SourceBuffer<T>(array, 0, array.Length, tag == this ? null : tag);
    }

    private RentalRecord? FindRecord(T[] array) =>
        Quarantine is not null && _records.TryGetValue(array, out RentalRecord? record) ? record : null;

    private RentalRecord NewRecord(T[] array) => new(this, null, BufferPoolSettings<T>.BytesOf(array.Length), "An array", array.Length);

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

    private void OnTwice(T[] array)
    {
        PoolMisuseException misuse = Misuse(MisuseKind.DoubleReturn, MisuseText.OneArray(array.Length), MisuseText.IdleAlready);
        if (Settings.Checks != PoolChecks.Off)
        {
            throw misuse;
        }
    }
}
