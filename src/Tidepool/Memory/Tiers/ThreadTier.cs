using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

// Locals whose address is taken to identify the thread need no zeroing.
[module: SkipLocalsInit]

namespace Tidepool;

/// <summary>
/// The thread tier of the process: finds the running thread's magazine, and knows every thread's shard for trimming and counting.
/// </summary>
/// <remarks>
/// The fast look-up does not read a thread-static: it takes the address of a local, looks its megabyte up in a directory of shards, and
/// checks that the shard's thread is the one that runs (<see cref="StackIdentity"/>). Collisions and new threads take the slow look-up,
/// which reads the thread-static.
/// </remarks>
internal static unsafe partial class ThreadTier
{
    private const int DirectorySize = 1024;
    private const int PageShift = 20;
    private const int ReapsPerShard = 4;

    /// <summary>
    /// Held for changes of the registry and of tables, for trimming and for counting. Never while code of a source or a renter runs.
    /// </summary>
    internal static readonly FairLock Gate = new();

    /// <summary>How long the turns of one work, such as a trim, wait together for other threads that want the gate.</summary>
    private static readonly TimeSpan FairTimeout = TimeSpan.FromMilliseconds(10);

    private static readonly Shard[] Directory = NewDirectory();
    private static readonly List<Shard> Shards = [];
    private static readonly PriorityQueue<int, int> FreeIds = new(); // the lowest first: tables are as long as the highest id in use
    private static readonly List<StackIdentity> Ending = [];
    private static int s_nextId;
    private static int s_nextReap;

    [ThreadStatic]
    private static Shard? t_shard;

    [ThreadStatic]
    private static int t_returnedForOthers;

    /// <summary>The number of threads that have a shard, dead ones that were not reaped yet included.</summary>
    internal static int ShardCount
    {
        get
        {
            using (Gate.Hold())
            {
                return Shards.Count;
            }
        }
    }

    /// <summary>The number of identities of reaped threads that wait for the end of their thread to show.</summary>
    internal static int EndingCount
    {
        get
        {
            using (Gate.Hold())
            {
                return Ending.Count;
            }
        }
    }

    /// <summary>The highest number of buckets that had a place in the tables at one time.</summary>
    internal static int IdCount => Volatile.Read(ref s_nextId);

    /// <summary>The running thread's magazine at <paramref name="id"/>, or null: then ask <see cref="FindSlow"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static Magazine? Find(int id)
    {
        Unsafe.SkipInit(out int here);
        nuint address = (nuint)(&here);
        Shard shard = Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(Directory), (nint)((address >> PageShift) & (DirectorySize - 1)));
        Magazine[] table = shard.Table;
        StackIdentity owner = shard.Owner; // a copy: its address is not computed then
        return owner.Is(address) && (uint)id < (uint)table.Length ? table[id] : null;
    }

    /// <summary>The running thread's magazine of <paramref name="bucket"/>, by the fast look-up where it finds one that is open.</summary>
    /// <returns>Null when there is none, as <see cref="FindSlow"/> says.</returns>
    internal static Magazine? FindOpen(Bucket bucket) =>
        Find(bucket.Id) is { } magazine && magazine.Bucket == bucket && !magazine.IsShut ? magazine : FindSlow(bucket);

    /// <summary>How many slots a thread returns for others before it gets outboxes. Tests change it.</summary>
    internal static int ReturnsBeforeOutbox { get; set; } = 16;

    /// <summary>
    /// The running thread's magazine of <paramref name="bucket"/>, with an outbox: from the 16th return for others on.
    /// </summary>
    /// <returns>Null before that, and when there is no room for one: asked again after as many returns.</returns>
    internal static Magazine? OpenOutbox(Bucket bucket)
    {
        t_returnedForOthers++;
        if (t_returnedForOthers < ReturnsBeforeOutbox || bucket.Pool.Retired)
        {
            return null;
        }

        if (FindOpen(bucket) is { } magazine && (magazine.HasOutbox || magazine.TryMakeOutbox()))
        {
            return magazine;
        }

        t_returnedForOthers = 0;
        return null;
    }

    /// <summary>The running thread's magazine of <paramref name="bucket"/>; made when there is none.</summary>
    /// <returns>
    /// Null when the bucket's items are too large for the thread tier, the budget has no room or is too small for the places of threads,
    /// or the pool is retired.
    /// </returns>
    internal static Magazine? FindSlow(Bucket bucket)
    {
        if (bucket.Id < 0)
        {
            return null;
        }

        Shard shard = t_shard ?? NewShard();
        if (shard.Owner.IsKnown && shard.Owner.HasEnded)
        {
            return null; // the thread is going away, or its identity was withdrawn: its shard may be reaped at any moment
        }

        Remember(shard);
        Magazine? magazine = shard.Find(bucket);
        return magazine is null || magazine.IsShut ? NewMagazine(shard, bucket) : magazine;
    }

    /// <summary>
    /// The running thread, for a magazine that is in no table. As long as there is one the identity is not given to another thread.
    /// </summary>
    /// <param name="shard">For <see cref="CloseHandle"/>.</param>
    internal static StackIdentity OpenHandle(out Shard shard)
    {
        shard = t_shard ?? NewShard();
        Interlocked.Increment(ref shard.Handles);
        return shard.Owner.IsKnown && shard.Owner.HasEnded ? StackIdentity.None : shard.Owner;
    }

    /// <summary>Ends what <see cref="OpenHandle"/> began. The last handle of a thread that has been reaped gives up its identity.</summary>
    internal static void CloseHandle(Shard shard)
    {
        using (Gate.Hold())
        {
            if (Interlocked.Decrement(ref shard.Handles) == 0 && shard.IsReaped)
            {
                Ending.Add(shard.Owner);
            }
        }
    }

    /// <summary>A place in every thread's table, for one bucket.</summary>
    internal static int AllocateId()
    {
        using (Gate.Hold())
        {
            return FreeIds.TryDequeue(out int id, out _) ? id : s_nextId++;
        }
    }

    /// <summary>
    /// Runs <paramref name="visit"/> on each live magazine of some buckets under the gate, which the caller may hold already.
    /// </summary>
    internal static void ForEach(List<Bucket> buckets, Action<Magazine> visit)
    {
        using (Gate.Hold())
        {
            foreach (Shard shard in Shards)
            {
                foreach (Bucket bucket in buckets)
                {
                    if (shard.Find(bucket) is { } magazine && magazine != Magazine.None)
                    {
                        visit(magazine);
                    }
                }
            }
        }
    }

    /// <summary>
    /// Closes every magazine of a retired pool, in every thread's table, and frees the places. The pool makes no more buckets.
    /// </summary>
    internal static void Retire(TieredPool pool)
    {
        List<Bucket> buckets = pool.Buckets(); // asked first: a pool that makes a bucket holds its own lock and then takes the gate
        List<Taken> taken = CloseThoseOf(buckets);
        using (Gate.Hold())
        {
            foreach (Bucket bucket in buckets)
            {
                if (bucket.Id >= 0)
                {
                    FreeIds.Enqueue(bucket.Id, bucket.Id);
                }
            }
        }

        foreach (Taken one in taken)
        {
            pool.Evict(one.Bucket, CollectionsMarshal.AsSpan(one.Items));
        }
    }

    /// <summary>Gives the magazines of ended threads to the shared tier.</summary>
    internal static void ReapDead() => Reap(int.MaxValue, FairTimeout);

    private static Shard NewShard()
    {
        var shard = new Shard(Thread.CurrentThread, StackIdentity.OfCurrentThread());
        using (Gate.Hold())
        {
            Shards.Add(shard);
        }

        t_shard = shard; // last: a shard that is not in the list would keep places that are given to other pools

        Reap(ReapsPerShard, TimeSpan.Zero);
        Trimmer.Wake();
        return shard;
    }

    private static Magazine? NewMagazine(Shard shard, Bucket bucket)
    {
        if (bucket.Pool.IsTight)
        {
            return null;
        }

        Magazine? magazine = Magazine.TryMake(bucket, shard.Owner, isPrivate: false);
        if (magazine is null)
        {
            return null;
        }

        using (Gate.Hold())
        {
            if (!bucket.Pool.Retired)
            {
                shard.Set(bucket.Id, magazine);
                Trimmer.Wake();
                return magazine;
            }
        }

        bucket.Pool.Budget.Refund(magazine.Charge);
        return null;
    }

    /// <summary>
    /// Closes every magazine of a pool and gives what they hold to the shared tier. Threads make new ones when they need them.
    /// </summary>
    internal static void Recall(TieredPool pool)
    {
        PutShared(CloseThoseOf(pool.Buckets()));
    }

    /// <summary>Lets the fast look-up find <paramref name="shard"/> from the page that the caller's stack is on.</summary>
    private static void Remember(Shard shard)
    {
        Unsafe.SkipInit(out int here);
        nuint address = (nuint)(&here);
        ref Shard place = ref Directory[(address >> PageShift) & (DirectorySize - 1)];
        Shard there = Volatile.Read(ref place);
        if (there != shard && shard.Owner.Is(address) && (there == Shard.None || !there.IsAlive))
        {
            Volatile.Write(ref place, shard);
        }
    }

    /// <summary>Looks at some shards, and reaps those whose threads have ended.</summary>
    /// <param name="most">How many shards.</param>
    /// <param name="timeLeft">How long to wait for other threads that want the gate, in all turns together.</param>
    internal static void Reap(int most, TimeSpan timeLeft)
    {
        using (Gate.Hold())
        {
            RecycleEnded();
        }

        for (int looks = Math.Min(most, ShardCount); looks > 0; looks--)
        {
            bool isMore;
            do
            {
                PutShared(ReapNext(ref timeLeft, out isMore));
            }
            while (isMore);
        }
    }

    private static void PutShared(List<Taken> taken)
    {
        foreach (Taken one in taken)
        {
            Magazine.PutShared(one.Bucket, one.Items);
        }
    }

    /// <summary>Looks at the next shard. Of one whose thread has ended it closes some magazines; with the last the shard is forgotten.
    /// </summary>
    /// <param name="timeLeft">How long the turns may still wait for other threads.</param>
    /// <param name="isMore">Whether the shard has more.</param>
    private static List<Taken> ReapNext(ref TimeSpan timeLeft, out bool isMore)
    {
        using (Gate.HoldFairly(ref timeLeft))
        {
            isMore = false;
            s_nextReap = s_nextReap >= Shards.Count ? 0 : s_nextReap;
            if (Shards.Count == 0 || Shards[s_nextReap].IsAlive)
            {
                s_nextReap++;
                return [];
            }

            Shard shard = Shards[s_nextReap];
            var closing = new List<Place>();
            Magazine[] table = shard.Table;
            for (int i = 0; i < table.Length && closing.Count < BatchLength; i++)
            {
                AddPlace(shard, table[i], closing);
            }

            isMore = closing.Count == BatchLength;
            List<Taken> taken = Close(closing);
            if (!isMore)
            {
                Shards[s_nextReap] = Shards[^1];
                Shards.RemoveAt(Shards.Count - 1);
                RemoveFromDirectory(shard);
                shard.IsReaped = true;
                if (Volatile.Read(ref shard.Handles) == 0)
                {
                    Ending.Add(shard.Owner);
                }
            }

            return taken;
        }
    }

    /// <summary>
    /// Recycles identities of reaped threads. A thread is over for managed code a moment before its end shows in its identity.
    /// </summary>
    private static void RecycleEnded()
    {
        for (int i = Ending.Count - 1; i >= 0; i--)
        {
            if (Ending[i].IsOver)
            {
                Ending[i].Recycle();
                Ending.RemoveAt(i);
            }
        }
    }

    private static void RemoveFromDirectory(Shard shard)
    {
        for (int page = 0; page < DirectorySize; page++)
        {
            if (Volatile.Read(ref Directory[page]) == shard)
            {
                Interlocked.CompareExchange(ref Directory[page], Shard.None, shard);
            }
        }
    }

    private static Shard[] NewDirectory()
    {
        var directory = new Shard[DirectorySize];
        Array.Fill(directory, Shard.None);
        return directory;
    }

    /// <summary>Items that were taken out of a magazine, to be evicted or given to the shared tier.</summary>
    internal sealed class Taken(Bucket bucket, List<object?> items)
    {
        internal Bucket Bucket { get; } = bucket;

        internal List<object?> Items { get; } = items;
    }
}
