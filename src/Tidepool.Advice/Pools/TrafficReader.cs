namespace Tidepool.Advice;

/// <summary>Reads the events of pools in the order in which they happened. Knows no session or clock; not thread-safe.</summary>
internal sealed class TrafficReader
{
    private const int MostRequests = 200_000;

    private readonly Dictionary<(bool IsTidepool, int Pool), Pool> _pools = [];

    /// <summary>A buffer was rented.</summary>
    /// <param name="pool">The pool, and whether it is one of Tidepool.</param>
    /// <param name="length">The length of the buffer in elements.</param>
    /// <param name="id">The number by which the buffer is told from others; two may have one.</param>
    /// <param name="asked">The length that was asked for; null where the event does not say.</param>
    public void Rented((bool IsTidepool, int Id) pool, int length, int id, int? asked = null)
    {
        Pool found = Find(pool);
        if (asked is { } requested && found.Requests.Count < MostRequests)
        {
            found.Requests.Add((requested, length));
        }

        found.Find(length).Rent(id);
    }

    /// <summary>A buffer was returned.</summary>
    public void Returned((bool IsTidepool, int Id) pool, int length, int id) => Find(pool).Find(length).Return(id);

    /// <summary>A buffer was allocated for a rental.</summary>
    /// <param name="pool">The pool, and whether it is one of Tidepool.</param>
    /// <param name="length">The length of the buffer in elements.</param>
    /// <param name="id">The number by which the buffer is told from others; two may have one.</param>
    /// <param name="isKept">Whether the pool keeps this length: false where it said that it does not.</param>
    public void Allocated((bool IsTidepool, int Id) pool, int length, int id, bool isKept = true)
    {
        Counts counts = Find(pool).Find(length);
        counts.Allocate(id);
        counts.IsKept &= isKept;
    }

    /// <summary>A returned buffer found no room.</summary>
    public void Dropped((bool IsTidepool, int Id) pool, int length) => Find(pool).Find(length).Dropped++;

    /// <summary>What was seen.</summary>
    /// <param name="lost">Events that were lost. Then the order is not known, and no return is suspected.</param>
    public IReadOnlyList<PoolTraffic> Close(long lost) =>
    [
        .. _pools.Where(static pool => pool.Value.Lengths.Values.Any(static length => length.Rents + length.Returns > 0))
            .OrderByDescending(static pool => pool.Value.Lengths.Values.Sum(static length => length.Rents))
            .Select(pool => new PoolTraffic
            {
                IsTidepool = pool.Key.IsTidepool,
                PoolId = pool.Key.Pool,
                Requests = pool.Value.Requests,
                Lengths = [.. pool.Value.Lengths.Select(length => length.Value.Close(length.Key, lost > 0))],
            }),
    ];

    private Pool Find((bool, int) pool)
    {
        if (!_pools.TryGetValue(pool, out Pool? found))
        {
            _pools.Add(pool, found = new Pool());
        }

        return found;
    }

    private sealed class Pool
    {
        public SortedDictionary<int, Counts> Lengths { get; } = [];

        public List<(int Asked, int Given)> Requests { get; } = [];

        public Counts Find(int length)
        {
            if (!Lengths.TryGetValue(length, out Counts? found))
            {
                Lengths.Add(length, found = new Counts());
            }

            return found;
        }
    }

    /// <summary>The state of one length.</summary>
    /// <remarks>
    /// An event may come after one that it caused: a thread puts an array back, another rents it, and only then the first one writes that
    /// it was returned. So a number has a balance, and only a balance below zero is suspect, of an array whose balance is known: one that
    /// was allocated or returned first, or that came back and went out again since the window began.
    /// </remarks>
    private sealed class Counts
    {
        private readonly ShadowPlaces _places = new();
        private readonly Dictionary<int, (int Out, bool IsKnown)> _balances = [];
        private long _suspected;

        public long Rents { get; private set; }

        public long Returns { get; private set; }

        public long Allocated { get; private set; }

        public long Dropped { get; set; }

        public bool IsKept { get; set; } = true;

        /// <summary>The event comes before or after that of the rental.</summary>
        public void Allocate(int id)
        {
            Allocated++;
            _balances[id] = (_balances.GetValueOrDefault(id).Out, true);
        }

        public void Rent(int id)
        {
            Rents++;
            _places.CountMissed();
            _balances[id] = _balances.TryGetValue(id, out var balance) ? (balance.Out + 1, true) : (1, false);
        }

        public void Return(int id)
        {
            Returns++;
            _places.CountDropped();
            if (!_balances.TryGetValue(id, out var balance))
            {
                _balances.Add(id, (0, true)); // rented before the window
            }
            else if (balance.Out > 0)
            {
                _balances[id] = balance with { Out = balance.Out - 1 };
            }
            else
            {
                _suspected += balance.IsKnown ? 1 : 0;
            }
        }

        public LengthTraffic Close(int length, bool isTorn) => new()
        {
            Length = length,
            Rented = Rents,
            Returned = Returns,
            Allocated = Allocated,
            Dropped = Dropped,
            IsKept = IsKept,
            Served = _places.Served(),
            SuspectedReturns = isTorn ? 0 : _suspected,
            Ids = _balances.Count,
        };
    }
}
