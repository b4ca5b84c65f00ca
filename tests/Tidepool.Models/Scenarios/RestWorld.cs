using System.Globalization;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Items that rest after their return, for one schedule: where each of them is, and the invariants of their pool.</summary>
internal sealed class RestWorld
{
    private static readonly List<object> Abandoned = [];

    private readonly List<Tracked> _items = [];
    private readonly List<Tracked> _rented = [];
    private readonly Visits _visits;
    private readonly Dictionary<Tracked, (int Thread, int Returns)> _lastReturns = [];
    private readonly int[] _returns;
    private readonly bool _isOrdered;
    private readonly StringBuilder _log = new();
    private readonly TrackedPool _pool;
    private int _rentals;

    /// <param name="threads">How many threads rent.</param>
    /// <param name="visits">Whether magazines are trimmed and closed; without it items keep their order.</param>
    /// <param name="isSlow">Whether the fast look-up knows no thread, as where another thread has its place in the directory.</param>
    internal RestWorld(int threads, bool visits, bool isSlow)
    {
        _returns = new int[threads];
        _isOrdered = !visits;
        _pool = new TrackedPool(this, isSlow);
        _visits = new Visits(_pool, closes: true);
        _log.Append(CultureInfo.InvariantCulture, $"{(visits ? "with" : "without")} visits{(isSlow ? ", slow" : "")}:");
    }

    internal void Rent(int thread)
    {
        Point(thread, "rent");
        Tracked item = _pool.Rent();
        lock (_log)
        {
            Expect(item.Place is Place.Idle or Place.New, $"Object {item.Number} is {item.Place} and was rented: two have it.");
            item.Place = Place.Rented;
            if (_isOrdered && _lastReturns.TryGetValue(item, out var last) && last.Thread == thread)
            {
                int behind = _returns[thread] - last.Returns;
                Expect(behind >= Magazine.RestingPlaces - 1, $"Object {item.Number} was rented again with {behind} resting behind it.");
            }

            _rented.Add(item);
            _rentals++;
            _visits.NoteHomes();
        }
    }

    /// <summary>Returns an object that some thread has rented, if there is one.</summary>
    internal void Return(int thread, int which)
    {
        Tracked item;
        lock (_log)
        {
            if (_rented.Count == 0)
            {
                return;
            }

            item = _rented[which % _rented.Count];
            _rented.Remove(item);
            item.Place = Place.Idle;
            _lastReturns[item] = (thread, ++_returns[thread]);
        }

        Point(thread, $"return {item.Number}");
        _pool.Return(item);
    }

    /// <summary>Trims or closes every magazine, or trims the shared tier.</summary>
    internal void Visit(int thread, int what)
    {
        Point(thread, $"visit {what}");
        _visits.Run(what);
    }

    /// <summary>Nothing lost, nothing twice, the counters add up.</summary>
    internal void Check()
    {
        _visits.End();
        _pool.Validate();
        PoolStatistics statistics = _pool.GetStatistics();
        Expect(statistics.Idle == Count(Place.Idle), $"{statistics.Idle} objects are counted as idle, {Count(Place.Idle)} are");
        Expect(statistics.Rented == _rentals, $"{statistics.Rented} rentals are counted, {_rentals} were made");
        Expect(statistics.Leased == _rented.Count, $"{statistics.Leased} are counted as out, {_rented.Count} are");
        Expect(statistics.Missed == _items.Count, $"{statistics.Missed} births are counted, {_items.Count} objects were made");
        _pool.Retire();
        Expect(Count(Place.Idle) == 0, $"{Count(Place.Idle)} objects are idle in a pool that has ended");
    }

    internal void Abandon() => Abandoned.Add(_pool);

    public override string ToString() => _log.ToString();

    private int Count(Place place) => _items.Count(i => i.Place == place);

    private void Point(int thread, string what)
    {
        Schedule.Point("between");
        lock (_log)
        {
            _log.Append(CultureInfo.InvariantCulture, $"\n  T{thread} {what}");
        }
    }

    private static void Expect(bool condition, string otherwise)
    {
        if (!condition)
        {
            throw new ScheduleException(otherwise);
        }
    }

    private sealed class TrackedPool(RestWorld world, bool isSlow)
        : InternalObjectPool<Tracked>("resting model", itemBytes: 1024, isSlow)
    {
        /// <summary>Ends the pool, which a pool of the library itself never does.</summary>
        internal void Retire()
        {
            Expect(TryRetire(), "the pool has ended before");
            Drain();
        }

        protected override Tracked Make()
        {
            Schedule.Point("make");
            lock (world._log)
            {
                var item = new Tracked(world._items.Count);
                world._items.Add(item);
                return item;
            }
        }

        protected override void OnEvicted(Tracked item)
        {
            lock (world._log)
            {
                Expect(item.Place == Place.Idle, $"Object {item.Number} is {item.Place} and was discarded: two have it.");
                item.Place = Place.Destroyed;
            }
        }
    }
}
