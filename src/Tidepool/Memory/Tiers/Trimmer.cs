namespace Tidepool;

/// <summary>
/// Gives idle memory back without any call from the program: a timer every ten seconds, and each generation 2 collection under memory
/// pressure.
/// </summary>
/// <remarks>
/// One epoch trims the magazines of every thread and the shared tier of every pool; what no rental can have reached since the last epoch is
/// halved, so an idle pool keeps 1/32 after five epochs. Under memory pressure everything idle goes. The timer runs while anything is held
/// and stops when nothing is. Pools are referred to weakly: one that nothing holds any more, no pool, no lease and no magazine, can be
/// collected with the assembly that it belongs to.
/// </remarks>
internal static class Trimmer
{
    private static readonly List<WeakReference<TieredPool>> Pools = [];
    private static readonly Timer Clock = NewTimer();
    private static int s_running;
    private static int s_gen2Armed;
    private static int s_pressed;
    private static readonly IdleCollection Idle = new();
    private static long s_given;

    static Trimmer() => TidepoolEventSource.RentalsChanged += static () => Array.ForEach(Snapshot(), static s => s.OnRentalsChanged());

    /// <summary>The time between two epochs.</summary>
    internal static TimeSpan Period { get; } = TimeSpan.FromSeconds(10);

    /// <summary>Held by the epoch that runs.</summary>
    internal static Lock Gate { get; } = new();

    /// <summary>Whether epochs begin by themselves. Tests turn it off and let time pass by calls of <see cref="Epoch"/>.</summary>
    internal static bool IsAutomatic { get; set; } = true;

    internal static bool IsRunning => Volatile.Read(ref s_running) != 0;

    /// <summary>All pools that have not been disposed or collected.</summary>
    internal static TieredPool[] Snapshot()
    {
        lock (Pools)
        {
            var live = new List<TieredPool>(Pools.Count);
            Pools.RemoveAll(reference =>
            {
                bool isLive = reference.TryGetTarget(out TieredPool? pool);
                if (isLive)
                {
                    live.Add(pool!);
                }

                return !isLive;
            });
            return [.. live];
        }
    }

    /// <summary>Adds a new pool.</summary>
    internal static void Add(TieredPool pool)
    {
        lock (Pools)
        {
            Pools.Add(new WeakReference<TieredPool>(pool));
        }
    }

    /// <summary>Forgets a retired pool.</summary>
    internal static void Remove(TieredPool pool)
    {
        lock (Pools)
        {
            Pools.RemoveAll(reference => !reference.TryGetTarget(out TieredPool? other) || other == pool);
        }
    }

    /// <summary>Starts the clock if it stands. Called from slow paths that make something which can hold idle items.</summary>
    internal static void Wake()
    {
        if (Volatile.Read(ref s_running) == 0 && Interlocked.Exchange(ref s_running, 1) == 0)
        {
            try
            {
                Clock.Change(Period, Period);
            }
            catch
            {
                Volatile.Write(ref s_running, 0);
                throw;
            }

            if (Interlocked.Exchange(ref s_gen2Armed, 1) == 0)
            {
                _ = new Gen2Callback();
            }
        }
    }

    /// <summary>Everything idle of one pool goes to its source now.</summary>
    internal static long TrimNow(TieredPool pool) => Run(pool, all: true, out _);

    /// <summary>One epoch over all pools. The clock calls it; tests do so to let time pass.</summary>
    internal static void Epoch(bool all)
    {
        lock (Gate)
        {
            ThreadTier.ReapDead();
            long started = Environment.TickCount64;
            long taken = Run(null, all, out bool empty);
            Array.ForEach(Snapshot(), static pool => pool.EndEpoch());
            TidepoolEventSource.Log.BufferTrimPoll((int)(Environment.TickCount64 - started), all ? 1 : 0);
            if (empty && taken == 0 && !AwaitsCollection())
            {
                Stop();
            }
        }
    }

    /// <summary>Asks for an epoch that gives up everything idle, on a thread of the thread pool.</summary>
    /// <returns>False when one was asked for and has not ended: each collection under pressure asks, and a source may be slow to
    /// free.</returns>
    internal static bool RequestEpoch()
    {
        if (Interlocked.Exchange(ref s_pressed, 1) != 0)
        {
            return false;
        }

        ThreadPool.UnsafeQueueUserWorkItem(static _ => EpochUnderPressure(), null);
        return true;
    }

    private static void EpochUnderPressure()
    {
        try
        {
            if (Gate.TryEnter())
            {
                try
                {
                    Epoch(all: true);
                }
                finally
                {
                    Gate.Exit();
                }
            }
        }
        finally
        {
            Volatile.Write(ref s_pressed, 0);
        }
    }

    private static void Tick()
    {
        // An epoch that takes longer than a period (a source may be slow to free) must not make the next ones wait for it.
        if (!IsAutomatic || !Gate.TryEnter())
        {
            return;
        }

        bool collects;
        try
        {
            Epoch(IsUnderPressure());
            long given = Interlocked.Exchange(ref s_given, 0);
            collects = IdleCollection.Mode != IdleCollectionMode.Off
                && Idle.IsDue(given, GC.CollectionCount(2), Environment.CpuUsage.TotalTime, Environment.TickCount64);
        }
        finally
        {
            Gate.Exit();
        }

        if (collects)
        {
            IdleCollection.Collect(IdleCollection.Mode);
        }
    }

    /// <summary>Says whether what was given up may still lead to a collection.</summary>
    /// <remarks>The next turn of the clock counts what calls of Trim() have given up since the last one.</remarks>
    private static bool AwaitsCollection() =>
        IdleCollection.Mode != IdleCollectionMode.Off && (Idle.IsPending || Interlocked.Read(ref s_given) > 0);

    private static bool IsUnderPressure()
    {
        GCMemoryInfo info = GC.GetGCMemoryInfo();
        return info.MemoryLoadBytes >= info.HighMemoryLoadThresholdBytes;
    }

    private static long Run(TieredPool? only, bool all, out bool empty)
    {
        long sum = 0;
        ThreadTier.Trim(only, all, taken =>
        {
            TieredPool pool = taken.Bucket.Pool;
            pool.Evict(taken.Bucket, System.Runtime.InteropServices.CollectionsMarshal.AsSpan(taken.Items));
            pool.CountTrimmed(taken.Items.Count);
            NoteGiven(taken.Bucket, taken.Items.Count);
            sum += taken.Items.Count;
        });

        empty = only is null && !ThreadTier.HasMagazines();
        foreach (TieredPool pool in only is null ? Snapshot() : [only])
        {
            long shared = TrimShared(pool, all, ref empty);
            pool.CountTrimmed(shared);
            sum += shared;
            pool.WriteTrimmed();
        }

        return sum;
    }

    private static long TrimShared(TieredPool pool, bool all, ref bool empty)
    {
        long count = 0;
        pool.EndRest();
        foreach (Bucket bucket in pool.Buckets())
        {
            var chunks = new List<Chunk>();
            bucket.Shared.Trim(all, chunks);
            foreach (Chunk chunk in chunks)
            {
                count += chunk.Count;
                NoteGiven(bucket, chunk.Count);
                pool.Evict(bucket, chunk.Content());
            }

            empty &= bucket.Shared.IsEmpty;
        }

        return count;
    }

    /// <summary>Memory outside of the managed heap is the source's to give back; a collection does nothing for it.</summary>
    private static void NoteGiven(Bucket bucket, int items)
    {
        if (bucket.Pool.IsOnHeap)
        {
            Interlocked.Add(ref s_given, items * bucket.ItemBytes);
        }
    }

    private static void Stop()
    {
        Clock.Change(Timeout.Infinite, Timeout.Infinite);
        Volatile.Write(ref s_running, 0);
        Interlocked.MemoryBarrierProcessWide(); // a put stores its item, then looks at the clock, with no barrier in between

        // Something may have been made between the look and the stop; its Wake saw a running clock.
        bool empty = !ThreadTier.HasMagazines();
        foreach (TieredPool pool in Snapshot())
        {
            empty &= pool.Buckets().TrueForAll(static b => b.Shared.IsEmpty);
        }

        if (!empty)
        {
            Wake();
        }
    }

    private static Timer NewTimer()
    {
        // Whatever flows with the first renter (culture, activity, async locals) must not live as long as the process.
        if (ExecutionContext.IsFlowSuppressed())
        {
            return new Timer(static _ => Tick(), null, Timeout.Infinite, Timeout.Infinite);
        }

        using (ExecutionContext.SuppressFlow())
        {
            return new Timer(static _ => Tick(), null, Timeout.Infinite, Timeout.Infinite);
        }
    }

    /// <summary>
    /// Lives on by re-registering its finalizer, which therefore runs after each collection of the generation it has reached.
    /// </summary>
    private sealed class Gen2Callback
    {
        ~Gen2Callback()
        {
            if (Environment.HasShutdownStarted)
            {
                return;
            }

            if (IsAutomatic && IsRunning && IsUnderPressure())
            {
                RequestEpoch();
            }

            GC.ReRegisterForFinalize(this);
        }
    }
}
