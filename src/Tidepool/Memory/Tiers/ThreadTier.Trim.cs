namespace Tidepool;

/// <content>
/// Visits to the magazines of all threads, in batches, with the gate released and what was taken handed out between two of them. A batch
/// lets the threads that wait for the gate go first, however many threads and pools there are, for a limited time.
/// </content>
internal static unsafe partial class ThreadTier
{
    private const int BatchLength = 64;

    /// <summary>Trims the magazines of <paramref name="pool"/>, or of all when null.</summary>
    /// <param name="pool">The pool, or null.</param>
    /// <param name="all">Everything idle, or half of what was not reached since the last epoch.</param>
    /// <param name="evict">Called with what was taken, without the gate.</param>
    internal static void Trim(TieredPool? pool, bool all, Action<Taken> evict)
    {
        List<Place> places = PlacesOf(magazine => pool is null || magazine.Bucket.Pool == pool);
        TimeSpan timeLeft = FairTimeout;
        InBatches(places.FindAll(static place => place.Magazine.HasOutgoing), PostBatch, evict, ref timeLeft);
        InBatches(places, batch => TrimBatch(batch, all, isEpoch: pool is null), evict, ref timeLeft);
    }

    /// <summary>Whether any thread has a magazine.</summary>
    internal static bool HasMagazines()
    {
        foreach (Shard shard in SnapshotOfShards())
        {
            using (Gate.Hold())
            {
                foreach (Magazine magazine in shard.Table)
                {
                    if (magazine != Magazine.None)
                    {
                        return true;
                    }
                }
            }
        }

        return false;
    }

    /// <summary>Works on a batch at a time under the gate, and hands out what was taken without it.</summary>
    private static void InBatches(List<Place> places, Func<List<Place>, List<Taken>> work, Action<Taken> evict, ref TimeSpan timeLeft)
    {
        for (int first = 0; first < places.Count; first += BatchLength)
        {
            List<Taken> taken;
            using (Gate.HoldFairly(ref timeLeft))
            {
                taken = work(places.GetRange(first, Math.Min(BatchLength, places.Count - first)));
            }

            taken.ForEach(evict);
        }
    }

    /// <summary>The magazines that meet a condition, with the gate released between two shards. Any may be closed meanwhile.</summary>
    private static List<Place> PlacesOf(Func<Magazine, bool> condition)
    {
        var places = new List<Place>();
        foreach (Shard shard in SnapshotOfShards())
        {
            using (Gate.Hold())
            {
                foreach (Magazine magazine in shard.Table)
                {
                    if (magazine != Magazine.None && condition(magazine))
                    {
                        places.Add(new(shard, magazine));
                    }
                }
            }
        }

        return places;
    }

    private static Shard[] SnapshotOfShards()
    {
        using (Gate.Hold())
        {
            return [.. Shards];
        }
    }

    /// <summary>Posts what threads returned for others and still hold, before the homes are visited. Under the gate.</summary>
    private static List<Taken> PostBatch(List<Place> batch)
    {
        var result = new List<Taken>();
        Visit(batch, place =>
        {
            Items slots = default;
            int count = place.Magazine.TakeOutgoing(Items.Span(ref slots));
            place.Magazine.Resume();
            AddTaken(place.Magazine, Magazine.PostOrTake(Items.Span(ref slots)[..count]) ?? [], result);
        });
        return result;
    }

    private static List<Taken> TrimBatch(List<Place> batch, bool all, bool isEpoch)
    {
        var result = new List<Taken>();
        var unused = new List<Place>();
        var items = new List<object?>();
        Visit(batch, place =>
        {
            try
            {
                if (place.Magazine.Trim(all, isEpoch, items))
                {
                    unused.Add(place);
                }
            }
            finally
            {
                place.Magazine.Resume();
            }

            if (items.Count > 0)
            {
                result.Add(new(place.Magazine.Bucket, items));
                items = [];
            }
        });
        result.AddRange(Close(unused));
        return result;
    }

    /// <summary>Pauses magazines, with one barrier for all of them, and visits those whose owner is outside.</summary>
    /// <param name="batch">The magazines.</param>
    /// <param name="visit">What to do; it ends the pause also where it throws.</param>
    private static void Visit(List<Place> batch, Action<Place> visit)
    {
        List<Place> paused = batch.FindAll(static place => place.Magazine.TryPause());
        Interlocked.MemoryBarrierProcessWide();
        int begun = 0;
        try
        {
            while (begun < paused.Count)
            {
                Place place = paused[begun++];
                if (place.Magazine.TryBegin())
                {
                    visit(place);
                }
            }
        }
        finally
        {
            // Whatever was thrown, no owner may be left waiting.
            for (; begun < paused.Count; begun++)
            {
                paused[begun].Magazine.Resume();
            }
        }
    }

    /// <summary>Closes the magazines of some buckets, in batches.</summary>
    /// <remarks>
    /// By their places: to search all tables would take time in proportion to the pools that live, for each pool that ends. The pool of
    /// the buckets has been marked, so that its threads make no more magazines.
    /// </remarks>
    private static List<Taken> CloseThoseOf(List<Bucket> buckets)
    {
        var places = new List<Place>();
        foreach (Shard shard in SnapshotOfShards())
        {
            using (Gate.Hold())
            {
                foreach (Bucket bucket in buckets)
                {
                    AddPlace(shard, shard.Find(bucket), places);
                }
            }
        }

        var taken = new List<Taken>();
        TimeSpan timeLeft = FairTimeout;
        InBatches(places, static batch => Close(batch.FindAll(static place => place.IsCurrent)), taken.Add, ref timeLeft);
        return taken;
    }

    /// <summary>Closes magazines with two barriers for all of them, and takes them out of their tables. Under the gate.</summary>
    /// <param name="closing">Magazines that stand in their places.</param>
    private static List<Taken> Close(List<Place> closing)
    {
        var taken = new List<Taken>();
        if (closing.Count == 0)
        {
            return taken;
        }

        closing.ForEach(static place => place.Magazine.StopForGood());
        Interlocked.MemoryBarrierProcessWide();
        foreach (Place place in closing)
        {
            var one = new Taken(place.Magazine.Bucket, []);
            taken.Add(one);
            place.Magazine.FinishClose(one.Items);
        }

        Interlocked.MemoryBarrierProcessWide();
        for (int i = 0; i < closing.Count; i++)
        {
            Magazine magazine = closing[i].Magazine;
            magazine.EmptyClosedInbox(taken[i].Items);
            closing[i].Shard.Set(magazine.Bucket.Id, Magazine.None);
            magazine.Bucket.Pool.Budget.Refund(magazine.Charge);
        }

        taken.RemoveAll(static one => one.Items.Count == 0);
        return taken;
    }

    private static void AddPlace(Shard shard, Magazine? magazine, List<Place> places)
    {
        if (magazine is not null && magazine != Magazine.None)
        {
            places.Add(new(shard, magazine));
        }
    }

    private static void AddTaken(Magazine magazine, List<object?> items, List<Taken> result)
    {
        if (items.Count > 0)
        {
            result.Add(new Taken(magazine.Bucket, items));
        }
    }

    /// <summary>A magazine, and the shard whose table it stands in.</summary>
    /// <remarks>A class, so that lists of it share their code in programs that are compiled ahead of time.</remarks>
    private sealed class Place(Shard shard, Magazine magazine)
    {
        internal Shard Shard { get; } = shard;

        internal Magazine Magazine { get; } = magazine;

        /// <summary>Whether it still stands there. Under the gate.</summary>
        internal bool IsCurrent => Shard.Find(Magazine.Bucket) == Magazine;
    }
}
