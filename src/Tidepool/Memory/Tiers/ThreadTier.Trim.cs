namespace Tidepool;

/// <content>Visits to the magazines of all threads: what waits in outboxes is posted, what is idle is taken.</content>
internal static unsafe partial class ThreadTier
{
    private const int BatchLength = 64;

    /// <summary>Trims the magazines of <paramref name="pool"/>, or of all when null.</summary>
    /// <param name="pool">The pool, or null.</param>
    /// <param name="all">Everything idle, or half of what was not reached since the last epoch.</param>
    /// <returns>What was taken, to be evicted by the caller.</returns>
    internal static List<Taken> Trim(TieredPool? pool, bool all)
    {
        var result = new List<Taken>();
        lock (Gate)
        {
            var chosen = new List<Place>();
            foreach (Shard shard in Shards)
            {
                foreach (Magazine magazine in shard.Table)
                {
                    if (magazine != Magazine.None && (pool is null || magazine.Bucket.Pool == pool))
                    {
                        chosen.Add(new(shard, magazine));
                    }
                }
            }

            PostOutgoing(chosen.FindAll(static place => place.Magazine.HasOutgoing), result);
            ForEachBatch(chosen, batch => TrimBatch(batch, all, isEpoch: pool is null, result));
        }

        return result;
    }

    /// <summary>Posts what threads returned for others and still hold, before the homes are visited. Under the gate.</summary>
    private static void PostOutgoing(List<Place> places, List<Taken> result) => ForEachBatch(places, batch => Visit(batch, place =>
    {
        Items slots = default;
        int count = place.Magazine.TakeOutgoing(Items.Span(ref slots));
        place.Magazine.Resume();
        AddTaken(place.Magazine, Magazine.PostOrTake(Items.Span(ref slots)[..count]) ?? [], result);
    }));

    private static void TrimBatch(List<Place> batch, bool all, bool isEpoch, List<Taken> result)
    {
        var visited = new List<Visited>(batch.Count);
        Visit(batch, place => VisitOne(place, all, isEpoch, visited));
        foreach (Visited one in visited)
        {
            if (one.IsUnused)
            {
                one.Place.Magazine.Close(one.Items);
                one.Place.Shard.Set(one.Place.Magazine.Bucket.Id, Magazine.None);
                one.Place.Magazine.Bucket.Pool.Budget.Refund(one.Place.Magazine.Charge);
            }

            AddTaken(one.Place.Magazine, one.Items, result);
        }
    }

    /// <summary>Few at a time, because owners that come back to a paused magazine wait until its batch is done.</summary>
    private static void ForEachBatch(List<Place> places, Action<List<Place>> work)
    {
        for (int start = 0; start < places.Count; start += BatchLength)
        {
            work(places.GetRange(start, Math.Min(BatchLength, places.Count - start)));
        }
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

    private static void AddTaken(Magazine magazine, List<object?> items, List<Taken> result)
    {
        if (items.Count > 0)
        {
            result.Add(new Taken(magazine.Bucket, items));
        }
    }

    private static void VisitOne(Place place, bool all, bool isEpoch, List<Visited> visited)
    {
        var items = new List<object?>();
        bool isUnused = false;
        try
        {
            isUnused = place.Magazine.Trim(all, isEpoch, items);
        }
        finally
        {
            place.Magazine.Resume();
            visited.Add(new(place, items, isUnused));
        }
    }

    /// <summary>A magazine, and the shard whose table it stands in.</summary>
    private sealed class Place(Shard shard, Magazine magazine)
    {
        internal Shard Shard { get; } = shard;

        internal Magazine Magazine { get; } = magazine;
    }

    private sealed class Visited(Place place, List<object?> items, bool isUnused)
    {
        internal Place Place { get; } = place;

        internal List<object?> Items { get; } = items;

        internal bool IsUnused { get; } = isUnused;
    }
}
