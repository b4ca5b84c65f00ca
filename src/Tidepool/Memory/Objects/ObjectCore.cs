using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// What lives of an object pool behind its facade: the two kinds of items, births and deaths. Slots refer to it, the facade does too, and
/// it refers to neither, so a facade without references can be collected while objects are idle or out.
/// </summary>
/// <remarks>
/// Idle objects wait as slots, for leases, or as they are, for raw rentals: in buckets of their own, which help each other out through
/// the shared tier. In every method that takes an object or an idle slot, no other thread has it: the policy is called with nothing held
/// and nothing busy.
/// </remarks>
internal sealed partial class ObjectCore<T, TPolicy> : TieredObjectPool
    where T : class
    where TPolicy : struct, IObjectPolicy<T>
{
    /// <summary>The policy. No read-only field: a call would copy it.</summary>
    internal TPolicy Policy;

    /// <summary>
    /// The place of the slots in a thread's table, or <see cref="TieredPool.NoId"/>: every rental must take the slow path, threads have no
    /// places, or the pool was disposed.
    /// </summary>
    internal int LeaseId = NoId;

    /// <summary>The place of the raw objects in a thread's table, or <see cref="TieredPool.NoId"/>.</summary>
    internal int RawId = NoId;

    private const int MostBlanks = 32;
    private const int BlankPlaces = 16; // a power of two

    private static readonly string One = MisuseText.One(TypeName.Of<T>());
    private static readonly string Leased = $"A leased {TypeName.Of<T>()}";

    private readonly Bucket _slots;
    private readonly Bucket _raw;
    private readonly IValidatingObjectPolicy<T>? _validator;
    private readonly ConditionalWeakTable<T, RentalRecord>? _records;
    private readonly int _leakSampling;
    private readonly StackSampler _stacks;
    private readonly Lock _pathGate = new();
    private readonly Blanks?[] _blanks = new Blanks?[BlankPlaces];
    private int _created;

    internal ObjectCore(TPolicy policy, ObjectPoolOptions options)
        : base(
            PoolName.Take(options.Name, TypeName.Of<T>()),
            new Budget((long)options.Budget * options.ItemBytes, Budget.Process),
            options.ItemBytes)
    {
        Policy = policy;
        Checks = options.Checks ?? ProcessChecks.Mode;
        _validator = policy as IValidatingObjectPolicy<T>;
        _stacks = new StackSampler(options.CaptureStacks || (options.Checks is null && ProcessChecks.Stacks));
        _leakSampling = options.LeakSampling;
        _slots = AddBucket();
        _raw = AddBucket();
        (_slots.Sibling, _raw.Sibling) = (_raw, _slots);
        if (Checks == PoolChecks.Full)
        {
            _records = [];
        }

        ChoosePath();
        Start();
    }

    internal PoolChecks Checks { get; }

    /// <summary>Whether every rental is recorded, so that a raw return can be checked.</summary>
    internal bool IsTracked => _records is not null;

    internal override void Evict(Bucket bucket, ReadOnlySpan<object?> items)
    {
        foreach (object? item in items)
        {
            if (bucket == _raw)
            {
                DestroyItem(Unsafe.As<T>(item!));
            }
            else
            {
                DestroyItem(Unsafe.As<PooledObject<T, TPolicy>>(item!));
            }
        }
    }

    internal override void ReturnItem(Bucket bucket, object item) => Put(bucket, item, hasTicket: bucket == _slots);

    /// <summary>Ends the pool: idle objects are destroyed, and what is out is destroyed when it comes back.</summary>
    internal void Retire()
    {
        bool isFirst = TryRetire();
        ChoosePath(); // for each caller, and before other pools are given the places in the threads' tables
        if (isFirst)
        {
            Drain();
        }
    }

    /// <inheritdoc/>
    protected override void OnTightChanged() => ChoosePath();

    /// <summary>Opens or closes the fast path. Once the pool has ended it stays closed.</summary>
    private void ChoosePath()
    {
        lock (_pathGate)
        {
            bool isFast = !Retired && !IsTight && !IsTracked && _validator is null;
            (LeaseId, RawId) = isFast ? (_slots.Id, _raw.Id) : (NoId, NoId);
        }
    }

    protected override object Make(Bucket bucket)
    {
        T item = Policy.Create()
            ?? throw new InvalidOperationException($"{typeof(TPolicy)} made null instead of an object (pool '{Name}').");
        return bucket == _raw ? item : NewSlot(item, isNew: true);
    }

    protected override object Convert(Bucket bucket, object item)
    {
        if (bucket == _slots)
        {
            RemoveRecord(Unsafe.As<T>(item));
            return NewSlot(Unsafe.As<T>(item), isNew: false);
        }

        var slot = Unsafe.As<PooledObject<T, TPolicy>>(item);
        slot.Record?.StopWatching();
        return slot.Item;
    }

    protected override void CheckItems(HashSet<object> idle, List<string> faults)
    {
        var items = new HashSet<object>(ReferenceEqualityComparer.Instance);
        if (!idle.All(i => items.Add(i is PooledObject<T, TPolicy> slot ? slot.Item : i)))
        {
            faults.Add("the objects (one lies in two places)");
        }
    }

    private PooledObject<T, TPolicy> NewSlot(T item, bool isNew)
    {
        PooledObject<T, TPolicy> slot = TakeBlank();
        slot.Item = item;
        bool isSampled = isNew && !IsTracked && _leakSampling > 0 && Interlocked.Increment(ref _created) % _leakSampling == 0;
        if (isSampled || IsTracked)
        {
            slot.Record = new RentalRecord(this, slot, _slots.ItemBytes, Leased);
        }

        if (isSampled)
        {
            slot.Record!.TryBegin(CallerStack.Capture());
        }

        return slot;
    }

    /// <summary>
    /// A slot without an object. They are made several at a time, so that they are neighbours: a loop over thousands of leases
    /// reads few lines and few pages of memory for them, however large the objects are. Each thread has its own: two that write to
    /// neighbours would take the line from each other with each rental.
    /// </summary>
    private PooledObject<T, TPolicy> TakeBlank()
    {
        // The exchange gives one thread the whole stack. If two threads race, the loser starts a new one, and the overwritten stack is
        // garbage.
        ref Blanks? place = ref _blanks[Environment.CurrentManagedThreadId & (BlankPlaces - 1)];
        Blanks blanks = Interlocked.Exchange(ref place, null) ?? new();
        if (blanks.Slots.Count == 0)
        {
            for (int i = 0; i < blanks.Next; i++)
            {
                blanks.Slots.Push(new PooledObject<T, TPolicy>(this));
            }

            blanks.Next = Math.Min(2 * blanks.Next, MostBlanks);
        }

        PooledObject<T, TPolicy> blank = blanks.Slots.Pop();
        Volatile.Write(ref place, blanks);
        return blank;
    }

    /// <summary>Destroys the object of an idle slot.</summary>
    private void DestroyItem(PooledObject<T, TPolicy> slot)
    {
        slot.Record?.StopWatching();
        Destroy(slot.Item);
    }

    /// <summary>Destroys an object that was rented raw, or idle for that.</summary>
    private void DestroyItem(T item)
    {
        RemoveRecord(item);
        Destroy(item);
    }

    private void RemoveRecord(T item)
    {
        if (_records is not null && _records.TryGetValue(item, out RentalRecord? record))
        {
            record.StopWatching();
            _records.Remove(item);
        }
    }

    /// <summary>A policy that throws must not end the trim timer's thread, nor keep other objects from their end.</summary>
    private void Destroy(T item)
    {
        try
        {
            Policy.Destroy(item);
        }
        catch (Exception e)
        {
            OnFailure(e);
        }
    }

    private void OnFailure(Exception failure)
    {
        Interlocked.Increment(ref Counters.Failures);
        TidepoolEventSource.Log.SourceFailed(failure.ToString(), Name);
    }

    /// <summary>Slots without an object, of the threads that share a place.</summary>
    private sealed class Blanks
    {
        internal Stack<PooledObject<T, TPolicy>> Slots { get; } = [];

        /// <summary>How many are made the next time; doubled each time, so that a small pool makes few that it does not need.</summary>
        internal int Next { get; set; } = 1;
    }
}
