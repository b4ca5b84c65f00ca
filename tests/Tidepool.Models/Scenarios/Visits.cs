namespace Tidepool.Models.Scenarios;

/// <summary>What trimming and reaping do to the tiers of a model's pool.</summary>
/// <param name="station">The pool.</param>
/// <param name="closes">Whether magazines may be closed.</param>
internal sealed class Visits(TieredPool station, bool closes)
{
    private readonly HashSet<Magazine> _homes = [];
    private readonly ClosedMagazines _closed = new();

    /// <summary>Notes the magazines of the calling thread, which visits go to from now on.</summary>
    internal void NoteHomes()
    {
        foreach (Bucket bucket in station.Buckets())
        {
            if (ThreadTier.Find(bucket.Id) is { } magazine && magazine.Bucket == bucket)
            {
                lock (_homes)
                {
                    _homes.Add(magazine);
                }
            }
        }
    }

    /// <summary>Trims or closes the noted magazines, or trims the shared tier.</summary>
    /// <param name="what">A random number: which of them is done.</param>
    internal void Run(int what)
    {
        foreach (Bucket bucket in station.Buckets())
        {
            if (what % 3 == 0)
            {
                var chunks = new List<Chunk>();
                bucket.Shared.Trim(what % 2 == 0, chunks);
                chunks.ForEach(c => station.Evict(bucket, c.Content()));
                continue;
            }

            foreach (Magazine magazine in HomesOf(bucket))
            {
                if (closes && what % 7 == 1)
                {
                    CloseOnce(bucket, magazine);
                }
                else
                {
                    Trim(bucket, magazine, all: what % 2 == 0);
                }
            }
        }
    }

    /// <summary>Ends the visits: refunds the magazines that they closed.</summary>
    internal void End() => _closed.Refund(station);

    private List<Magazine> HomesOf(Bucket bucket)
    {
        lock (_homes)
        {
            return _homes.Where(m => m.Bucket == bucket).ToList();
        }
    }

    private void CloseOnce(Bucket bucket, Magazine magazine)
    {
        if (_closed.TryAdd(magazine))
        {
            var items = new List<object?>();
            magazine.Close(items);
            Magazine.PutShared(bucket, items);
        }
    }

    private static void Trim(Bucket bucket, Magazine magazine, bool all)
    {
        if (magazine.TryVisit())
        {
            var items = new List<object?>();
            magazine.Trim(all, isEpoch: true, items);
            magazine.Resume();
            bucket.Pool.Evict(bucket, items.ToArray());
        }
    }
}
