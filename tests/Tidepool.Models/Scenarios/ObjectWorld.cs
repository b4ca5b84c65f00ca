using System.Globalization;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>A pool of objects of its own for one schedule, where each of them is, and the invariants of both.</summary>
internal sealed class ObjectWorld
{
    private static readonly List<object> Abandoned = [];

    private readonly List<Tracked> _items = [];
    private readonly List<ObjectRental> _rentals = [];
    private readonly List<Tracked> _raw = [];
    private readonly Visits _visits;
    private readonly StringBuilder _log = new();
    private readonly Random _failures;
    private readonly int _failureRate;
    private readonly TieredPool _station;
    private readonly ObjectPool<Tracked> _pool;
    private int _rented;
    private int _refused;
    private bool _isDisposed;

    /// <param name="random">Where every choice comes from.</param>
    /// <param name="disposes">
    /// Whether the pool is disposed in the middle, which closes magazines, as a budget that is used up does; then visitors close none.
    /// </param>
    internal ObjectWorld(Random random, bool disposes)
    {
        // Magazines of one to fifteen objects, so that a few rentals fill and empty them; now and then a pool that may keep nothing.
        int bytes = random.Next(8) switch { 0 => 1024, < 4 => 64 << 10, < 7 => 128 << 10, _ => 256 << 10 };
        bool isTight = random.Next(6) == 0;
        int budget = isTight ? random.Next(6) : 1000;
        bool validates = random.Next(4) == 0;
        _failures = new Random(random.Next());
        _failureRate = random.Next(3) * 12;
        var options = new ObjectPoolOptions
        {
            Name = "model",
            ItemBytes = bytes,
            Budget = budget,
            LeakSampling = 0,
            Checks = PoolChecks.Default,
        };
        if (validates)
        {
            var pool = new ObjectPool<Tracked, TrackingPolicy>(new TrackingPolicy(this), options);
            (_pool, _station) = (pool, pool.Core);
        }
        else
        {
            var pool = new ObjectPool<Tracked, PlainTrackingPolicy>(new PlainTrackingPolicy(this), options);
            (_pool, _station) = (pool, pool.Core);
        }

        _visits = new Visits(_station, closes: !disposes && !isTight);
        _log.Append(CultureInfo.InvariantCulture, $"items of {bytes}, budget {budget}, validates {validates}, failures {_failureRate} %:");
    }

    internal bool HasRentals
    {
        get
        {
            lock (_log)
            {
                return _rentals.Count > 0;
            }
        }
    }

    internal Tracked Create()
    {
        Schedule.Point("create");
        lock (_log)
        {
            if (Fails())
            {
                throw new PolicyException();
            }

            var item = new Tracked(_items.Count);
            _items.Add(item);
            return item;
        }
    }

    internal bool Reset(Tracked item)
    {
        Move(item, Place.Resetting, Place.Rented);
        return IsFit(item, Place.Resetting, "reset");
    }

    internal bool Validate(Tracked item)
    {
        Move(item, Place.Idle, Place.Idle);
        return IsFit(item, Place.Idle, "validate");
    }

    internal void Destroy(Tracked item)
    {
        Schedule.Point("destroy");
        Move(item, Place.Destroyed, Place.Idle, Place.Refused);
        if (Fails())
        {
            throw new PolicyException();
        }
    }

    /// <summary>Rents under a lease.</summary>
    internal void Rent(int thread) => Try(thread, "rent", () =>
    {
        ObjectLease<Tracked> lease = _pool.Rent();
        Begin(lease.Value, () => _rentals.Add(new ObjectRental(lease)));
        return lease.Value;
    });

    /// <summary>Rents the object itself.</summary>
    internal void RentRaw(int thread) => Try(thread, "rent raw", () =>
    {
        Tracked item = _pool.RentRaw();
        Begin(item, () => _raw.Add(item));
        return item;
    });

    /// <summary>Returns the lease of some rental, whether it was returned before or not; detaches it instead if asked.</summary>
    internal void Return(int thread, int which, bool detaches)
    {
        ObjectRental rental;
        lock (_log)
        {
            // Mostly one of the last, so that threads meet at it.
            int back = which % 10 < 7 ? 0 : which / 10 % _rentals.Count;
            rental = _rentals[_rentals.Count - 1 - back];
            rental.Begun++;
        }

        Point(thread, $"{(detaches ? "detach" : "return")} of {which}");
        try
        {
            if (detaches)
            {
                Tracked item = rental.Lease.Detach();
                Move(item, Place.Detached, Place.Rented);
            }
            else
            {
                rental.Lease.Return();
            }

            Won(thread, rental);
        }
        catch (PolicyException)
        {
            Won(thread, rental); // the rental has ended; its object could not be reset
        }
        catch (Exception e) when (e is PoolMisuseException or ObjectDisposedException)
        {
            Note(thread, "was late");
        }
    }

    /// <summary>Returns some object that was rented raw, once.</summary>
    internal void ReturnRaw(int thread, int which)
    {
        Tracked item;
        lock (_log)
        {
            if (_raw.Count == 0)
            {
                return;
            }

            item = _raw[which % _raw.Count];
            _raw.Remove(item);
        }

        Point(thread, $"return {item.Number}");
        try
        {
            _pool.ReturnRaw(item);
        }
        catch (PolicyException)
        {
            Note(thread, "it could not be reset");
        }
    }

    /// <summary>Does to a magazine, or to the shared tier, what trimming and reaping do.</summary>
    internal void Visit(int thread, int what)
    {
        Point(thread, $"visit {what}");
        _visits.Run(what);
    }

    internal void Dispose(int thread)
    {
        Point(thread, "dispose the pool");
        lock (_log)
        {
            _isDisposed = true;
        }

        _pool.Dispose();
    }

    /// <summary>Nothing lost, nothing twice, the counters add up.</summary>
    internal void Check()
    {
        _visits.End();
        foreach (ObjectRental rental in _rentals)
        {
            Expect(rental.Won == (rental.Begun > 0 ? 1 : 0), $"{rental.Won} of {rental.Begun} returns of one rental were accepted");
        }

        _pool.Validate();
        PoolStatistics statistics = _pool.GetStatistics();
        int rentedNow = Count(Place.Rented);
        Expect(
            Count(Place.New) == 0 && Count(Place.Resetting) == 0 && Count(Place.Refused) == 0,
            $"an object was left in the middle: {Describe()}");
        Expect(statistics.Idle == Count(Place.Idle), $"{statistics.Idle} objects are counted as idle: {Describe()}");
        Expect(statistics.Rented == _rented, $"{statistics.Rented} rentals are counted, {_rented} were made");
        Expect(statistics.Leased == rentedNow, $"{statistics.Leased} are counted as out: {Describe()}");
        Expect(statistics.Missed == _items.Count, $"{statistics.Missed} births are counted: {Describe()}");
        Expect(statistics.Refused == _refused, $"{statistics.Refused} refusals are counted, {_refused} were made");
        _pool.Trim();
        Expect(Count(Place.Idle) == 0, $"objects are idle after everything was trimmed: {Describe()}");
        _pool.Dispose();
        _pool.Validate();
        Expect(_station.Budget.Used == 0, $"{_station.Budget.Used} bytes are charged to the budget of a pool that was disposed");
    }

    internal void Abandon() => Abandoned.Add(_pool);

    public override string ToString() => _log.ToString();

    private void Try(int thread, string what, Func<Tracked> rent)
    {
        Point(thread, what);
        try
        {
            Tracked item = rent();
            Note(thread, $"has {item.Number}");
        }
        catch (PolicyException)
        {
            Note(thread, "got none");
        }
        catch (ObjectDisposedException) when (_isDisposed)
        {
            Note(thread, "was too late");
        }
    }

    private void Begin(Tracked item, Action record)
    {
        Move(item, Place.Rented, Place.Idle, Place.New);
        lock (_log)
        {
            record();
            _rented++;
            _visits.NoteHomes();
        }
    }

    private void Won(int thread, ObjectRental rental)
    {
        lock (_log)
        {
            rental.Won++;
        }

        Note(thread, "ended the rental");
    }

    private void Move(Tracked item, Place to, params ReadOnlySpan<Place> from)
    {
        lock (_log)
        {
            if (!from.Contains(item.Place))
            {
                throw new ScheduleException($"Object {item.Number} is {item.Place} and was to become {to}: two have it.");
            }

            item.Place = to;
        }
    }

    /// <summary>Answers for a policy whether an object may be used again; now and then refuses or throws.</summary>
    private bool IsFit(Tracked item, Place from, string point)
    {
        Schedule.Point(point);
        bool refuses, throws;
        lock (_log)
        {
            throws = Fails();
            refuses = throws || Fails();
            _refused += refuses ? 1 : 0;
        }

        Move(item, refuses ? Place.Refused : Place.Idle, from);
        return throws ? throw new PolicyException() : !refuses;
    }

    private bool Fails() => _failureRate > 0 && _failures.Next(100) < _failureRate;

    private int Count(Place place) => _items.Count(i => i.Place == place);

    private string Describe() => string.Join(", ", _items.GroupBy(i => i.Place).Select(g => $"{g.Count()} {g.Key}"));

    private void Point(int thread, string what)
    {
        Schedule.Point("between");
        Note(thread, what);
    }

    private void Note(int thread, string what)
    {
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
}
