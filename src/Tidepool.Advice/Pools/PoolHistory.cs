namespace Tidepool.Advice;

/// <summary>One length of a pool of Tidepool, as the pool counted it since it was asked to.</summary>
internal sealed record PoolClass
{
    /// <summary>In elements; 0 for further lengths above the longest that is kept.</summary>
    public int Length { get; init; }

    /// <summary>The bytes of one item; 0 where they differ.</summary>
    public long Bytes { get; init; }

    /// <summary>Whether the pool keeps items of that length.</summary>
    public bool IsKept { get; init; }

    /// <summary>Rentals that found no idle item.</summary>
    public long Missed { get; init; }

    /// <summary>Returned items that found no room.</summary>
    public long Dropped { get; init; }

    /// <summary>The misses that 1, 2, 4 ... 4096 further places would have served; empty where none are kept.</summary>
    public IReadOnlyList<long> Served { get; init; } = [];
}

/// <summary>What a pool reported.</summary>
/// <param name="Text">In its words: the kind of misuse first, then where it happened.</param>
/// <param name="Count">How often, in the window.</param>
internal readonly record struct PoolNotice(string Text, int Count);

/// <summary>What one pool of Tidepool did in a window.</summary>
internal sealed record PoolRecord
{
    /// <summary>The pool when the window began.</summary>
    public required PoolSample First { get; init; }

    /// <summary>The pool when it ended.</summary>
    public required PoolSample Last { get; init; }

    /// <summary>How many of its items were out, on average over the answers.</summary>
    public double MeanLeased { get; init; }

    /// <summary>What each length missed and dropped; empty for pools of resources.</summary>
    public IReadOnlyList<PoolClass> Classes { get; init; } = [];

    /// <summary>What the pool reported in the window, such as misuse with its place, the most frequent first.</summary>
    public IReadOnlyList<PoolNotice> Reports { get; init; } = [];

    /// <summary>Each rental of a shorter window; null unless that was asked for.</summary>
    public PoolTraffic? Traffic { get; init; }

    /// <summary>How long it was.</summary>
    public double Seconds => Last.Seconds - First.Seconds;
}

/// <summary>Gathers the answers and reports of pools. Knows no session or clock; not thread-safe.</summary>
internal sealed class PoolHistory
{
    private const int MostReports = 200;

    private readonly Dictionary<string, Entry> _pools = new(StringComparer.Ordinal);

    /// <summary>A pool has answered.</summary>
    public void Add(PoolSample sample)
    {
        Entry pool = Find(sample.Name);
        if (pool.First is null || sample.Rented < pool.Last!.Rented)
        {
            // The first answer, or another pool that got the name of one that has ended.
            _pools[sample.Name] = pool = new Entry { First = sample, Reports = pool.First is null ? pool.Reports : [] };
        }

        pool.Last = sample;
        pool.Leased += sample.Leased;
        pool.Answers++;
    }

    /// <summary>A pool has answered for one length, after its own answer of that moment.</summary>
    public void Add(string pool, PoolClass found)
    {
        Entry entry = Find(pool);
        entry.Classes[(found.Length, found.IsKept)] = found;
        if (entry.Answers == 1)
        {
            entry.FirstClasses[(found.Length, found.IsKept)] = found;
        }
    }

    /// <summary>A pool has reported something.</summary>
    public void Report(string pool, string text)
    {
        Dictionary<string, int> reports = Find(pool).Reports;
        if (reports.Count < MostReports || reports.ContainsKey(text))
        {
            reports[text] = reports.GetValueOrDefault(text) + 1;
        }
    }

    /// <summary>The pools that answered at two moments or more, by name.</summary>
    public IReadOnlyList<PoolRecord> Close() =>
    [
        .. _pools.Values.Where(static pool => pool.Answers > 1).OrderBy(static pool => pool.First!.Name, StringComparer.Ordinal)
            .Select(static pool => new PoolRecord
            {
                First = pool.First!,
                Last = pool.Last!,
                MeanLeased = (double)pool.Leased / pool.Answers,
                Classes =
                [
                    .. pool.Classes.OrderBy(static one => one.Key)
                        .Select(one => Since(one.Value, pool.FirstClasses.GetValueOrDefault(one.Key))),
                ],
                Reports =
                [
                    .. pool.Reports.OrderByDescending(static one => one.Value).Select(static one => new PoolNotice(one.Key, one.Value)),
                ],
            }),
    ];

    /// <summary>What a pool has counted since its first answer.</summary>
    private static PoolClass Since(PoolClass last, PoolClass? first) => first is null
        ? last
        : last with
        {
            Missed = last.Missed - first.Missed,
            Dropped = last.Dropped - first.Dropped,
            Served = [.. last.Served.Zip(first.Served, static (now, before) => now - before)],
        };

    private Entry Find(string pool)
    {
        if (!_pools.TryGetValue(pool, out Entry? found))
        {
            _pools.Add(pool, found = new Entry());
        }

        return found;
    }

    private sealed class Entry
    {
        public PoolSample? First { get; init; }

        public PoolSample? Last { get; set; }

        public long Leased { get; set; }

        public int Answers { get; set; }

        public Dictionary<(int, bool), PoolClass> Classes { get; } = [];

        public Dictionary<(int, bool), PoolClass> FirstClasses { get; } = [];

        public Dictionary<string, int> Reports { get; init; } = [];
    }
}
