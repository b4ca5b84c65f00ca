namespace Tidepool;

/// <content>Visits to the magazines of all threads: what waits in outboxes is posted, what is idle is taken.</content>
internal static unsafe partial class ThreadTier
{
    /// <summary>Trims the magazines of <paramref name="pool"/>, or of all when null.</summary>
    /// <param name="pool">The pool, or null.</param>
    /// <param name="all">Everything idle, or half of what was not reached since the last epoch.</param>
    /// <returns>What was taken, to be evicted by the caller.</returns>
    internal static List<Taken> Trim(TieredPool? pool, bool all)
    {
        var result = new List<Taken>();
        lock (Gate)
        {
            var chosen = new List<(Shard Shard, Magazine Magazine)>();
            foreach (Shard shard in Shards)
            {
                foreach (Magazine magazine in shard.Table)
                {
                    if (magazine != Magazine.None && (pool is null || magazine.Bucket.Pool == pool))
                    {
                        chosen.Add((shard, magazine));
                    }
                }
            }

            PostOutgoing(chosen, result);
            foreach ((Shard, Magazine)[] batch in chosen.Chunk(64))
            {
                TrimBatch(batch, all, pool is null, result);
            }
        }

        return result;
    }

    /// <summary>Posts what threads returned for others and still hold, before the homes are visited. Under the gate.</summary>
    private static void PostOutgoing(IEnumerable<(Shard Shard, Magazine Magazine)> magazines, List<Taken> result)
    {
        foreach ((Shard, Magazine)[] batch in magazines.Where(static m => m.Magazine.HasOutgoing).Chunk(64))
        {
            Visit(batch, (_, magazine) =>
            {
                Items slots = default;
                List<object?> items;
                int count;
                try
                {
                    items = [];
                    count = magazine.TakeOutgoing(Items.Span(ref slots));
                }
                finally
                {
                    magazine.Resume();
                }

                Magazine.PostOrTake(Items.Span(ref slots)[..count], items);
                AddTaken(magazine, items, result);
            });
        }
    }

    private static void TrimBatch((Shard Shard, Magazine Magazine)[] batch, bool all, bool isEpoch, List<Taken> result)
    {
        var visited = new List<(Shard Shard, Magazine Magazine, List<object?> Items, bool Unused)>(batch.Length);
        Visit(batch, (shard, magazine) => VisitOne(shard, magazine, all, isEpoch, visited));
        foreach ((Shard shard, Magazine magazine, List<object?> items, bool unused) in visited)
        {
            if (unused)
            {
                magazine.Close(items);
                shard.Set(magazine.Bucket.Id, Magazine.None);
                magazine.Bucket.Pool.Budget.Refund(magazine.Charge);
            }

            AddTaken(magazine, items, result);
        }
    }

    /// <summary>Pauses magazines, with one barrier for all of them, and visits those whose owner is outside.</summary>
    /// <param name="batch">The magazines.</param>
    /// <param name="visit">What to do; it ends the pause also where it throws.</param>
    private static void Visit((Shard Shard, Magazine Magazine)[] batch, Action<Shard, Magazine> visit)
    {
        var paused = batch.Where(static b => b.Magazine.TryPause()).ToList();
        Interlocked.MemoryBarrierProcessWide();
        int begun = 0;
        try
        {
            foreach ((Shard shard, Magazine magazine) in paused)
            {
                begun++;
                if (magazine.TryBegin())
                {
                    visit(shard, magazine);
                }
            }
        }
        finally
        {
            // Whatever was thrown, no owner may be left waiting.
            paused.Skip(begun).ToList().ForEach(static p => p.Magazine.Resume());
        }
    }

    private static void AddTaken(Magazine magazine, List<object?> items, List<Taken> result)
    {
        if (items.Count > 0)
        {
            result.Add(new Taken(magazine.Bucket, items));
        }
    }

    private static void VisitOne(
        Shard shard, Magazine magazine, bool all, bool isEpoch, List<(Shard, Magazine, List<object?>, bool)> visited)
    {
        var items = new List<object?>();
        bool unused = false;
        try
        {
            unused = magazine.Trim(all, isEpoch, items);
        }
        finally
        {
            magazine.Resume();
            visited.Add((shard, magazine, items, unused));
        }
    }
}
