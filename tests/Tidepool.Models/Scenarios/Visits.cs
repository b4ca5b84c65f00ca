namespace Tidepool.Models.Scenarios;

/// <summary>What trimming and reaping do to the tiers of a model's pool.</summary>
internal static class Visits
{
    /// <summary>Trims or closes magazines, or trims the shared tier.</summary>
    /// <param name="station">The pool.</param>
    /// <param name="homes">The magazines of a bucket that the model has seen.</param>
    /// <param name="what">A random number: which of them is done.</param>
    /// <param name="closes">Whether magazines may be closed.</param>
    /// <param name="isFirst">Whether nothing closed the magazine before: in earnest the gate lets in one.</param>
    internal static void Run(Station station, Func<Bucket, IEnumerable<Magazine>> homes, int what, bool closes, Func<Magazine, bool> isFirst)
    {
        foreach (Bucket bucket in station.Buckets())
        {
            if (what % 3 == 0)
            {
                var chunks = new List<Chunk>();
                bucket.Shared.Trim(what % 2 == 0, chunks);
                chunks.ForEach(c => station.Discard(bucket, c.Content()));
                continue;
            }

            foreach (Magazine magazine in homes(bucket))
            {
                if (closes && what % 7 == 1)
                {
                    CloseOnce(bucket, magazine, isFirst);
                }
                else
                {
                    Trim(bucket, magazine, all: what % 2 == 0);
                }
            }
        }
    }

    private static void CloseOnce(Bucket bucket, Magazine magazine, Func<Magazine, bool> isFirst)
    {
        if (isFirst(magazine))
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
            bucket.Station.Discard(bucket, items.ToArray());
        }
    }
}
