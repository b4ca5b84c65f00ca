using System.Collections.Concurrent;

namespace Tidepool.Models.Stress;

/// <summary>
/// Threads that rent objects, leased and raw, mark them, hand them over, return them once or several times at once, and are born and end,
/// while policies refuse and throw and trims run. The mark of an object says who has it, so a second renter finds out at once.
/// </summary>
internal sealed class ObjectStorm
{
    private readonly int _seed;
    private readonly ObjectPool<Marked> _pool;
    private readonly ConcurrentQueue<string> _faults = new();
    private readonly ConcurrentQueue<(ObjectLease<Marked> Lease, int Number)> _handedOver = new();
    private readonly ConcurrentBag<Marked> _all = [];
    private int _number;
    private long _rented;
    private long _won;
    private long _end;

    internal ObjectStorm(int seed, ObjectPoolOptions options)
    {
        _seed = seed;
        _pool = ObjectPool<Marked>.Create(Create, Reset, options);
    }

    /// <summary>
    /// Runs <paramref name="threads"/> threads at a time for about <paramref name="duration"/>, then checks that nothing is lost.
    /// </summary>
    /// <returns>What was done, for the test's output.</returns>
    internal string Run(int threads, TimeSpan duration)
    {
        _end = Environment.TickCount64 + (long)duration.TotalMilliseconds;
        int births = 0;
        Parallel.For(0, threads + 1, new ParallelOptions { MaxDegreeOfParallelism = threads + 1 }, place =>
        {
            while (Environment.TickCount64 < _end)
            {
                var random = new Random(_seed + Interlocked.Increment(ref births));
                var thread = new Thread(() => Guarded(() => Live(place, random)));
                thread.Start();
                thread.Join();
            }
        });
        while (_handedOver.TryDequeue(out var rental))
        {
            Return(rental.Lease, rental.Number);
        }

        Check();
        return $"{_rented} rentals, {births} threads, {_all.Count} objects";
    }

    private Marked Create()
    {
        var item = new Marked();
        _all.Add(item);
        return item;
    }

    private bool Reset(Marked item)
    {
        if (Interlocked.Exchange(ref item.Busy, 1) != 0)
        {
            _faults.Enqueue("an object is reset twice at once");
        }

        int fate = ++item.Uses % 97;
        Volatile.Write(ref item.Busy, 0);
        return fate == 13 ? throw new TimeoutException() : fate != 31;
    }

    private void Live(int place, Random random)
    {
        for (int step = random.Next(100, 5000); step > 0 && Environment.TickCount64 < _end; step--)
        {
            if (place == 0 && random.Next(50) == 0)
            {
                _pool.Trim();
            }

            switch (random.Next(4))
            {
                case 0:
                    RentRaw(random.Next(20));
                    break;
                case 1 when _handedOver.TryDequeue(out var rental):
                    Return(rental.Lease, rental.Number);
                    break;
                case 2 when _handedOver.Count < 200:
                    _handedOver.Enqueue(Rent());
                    break;
                default:
                    (ObjectLease<Marked> lease, int number) = Rent();
                    Return(lease, number);
                    break;
            }
        }
    }

    private (ObjectLease<Marked> Lease, int Number) Rent()
    {
        ObjectLease<Marked> lease = _pool.Rent();
        return (lease, Mark(lease.Value));
    }

    private void RentRaw(int count)
    {
        var items = new List<(Marked Item, int Number)>();
        for (int i = 0; i < count; i++)
        {
            Marked item = _pool.RentRaw();
            items.Add((item, Mark(item)));
        }

        foreach ((Marked item, int number) in items)
        {
            Unmark(item, number);
            Interlocked.Increment(ref _won);
            try
            {
                _pool.ReturnRaw(item);
            }
            catch (TimeoutException)
            {
                // The object is gone.
            }
        }
    }

    /// <summary>Returns from here, and now and then from another thread at the same time.</summary>
    private void Return(ObjectLease<Marked> lease, int number)
    {
        Unmark(lease.Value, number);
        int won = 0;
        if (number % 16 == 0)
        {
            Parallel.Invoke(() => TryReturn(lease, ref won), () => TryReturn(lease, ref won));
        }
        else
        {
            TryReturn(lease, ref won);
        }

        Interlocked.Add(ref _won, won);
        if (won != 1)
        {
            _faults.Enqueue($"{won} returns of rental {number} were accepted");
        }
    }

    private static void TryReturn(ObjectLease<Marked> lease, ref int won)
    {
        try
        {
            lease.Return();
            Interlocked.Increment(ref won);
        }
        catch (TimeoutException)
        {
            Interlocked.Increment(ref won);
        }
        catch (PoolMisuseException)
        {
            // The other one was first.
        }
    }

    private int Mark(Marked item)
    {
        Interlocked.Increment(ref _rented);
        int number = Interlocked.Increment(ref _number);
        int before = Interlocked.CompareExchange(ref item.Renter, number, 0);
        if (before != 0)
        {
            _faults.Enqueue($"an object has two renters: {before} and {number}");
        }

        return number;
    }

    private void Unmark(Marked item, int number)
    {
        int before = Interlocked.Exchange(ref item.Renter, 0);
        if (before != number || item.Disposals != 0)
        {
            _faults.Enqueue($"rental {number} has changed under its renter: {before}, {item.Disposals} disposals");
        }
    }

    private void Guarded(Action work)
    {
        try
        {
            work();
        }
        catch (Exception e)
        {
            _faults.Enqueue(e.ToString());
        }
    }

    private void Check()
    {
        string last = string.Join("; ", _faults.Take(5));
        Assert.True(_faults.IsEmpty, $"seed {_seed}: {_faults.Count} faults: {last}");
        _pool.Validate();
        PoolStatistics statistics = _pool.GetStatistics();
        Assert.Equal((_rented, _won, 0), (statistics.Rented, statistics.Returned, statistics.Leased));
        Assert.Equal(_all.Count, statistics.Missed);
        Assert.Equal(_all.Count - statistics.Idle, _all.Count(i => i.Disposals == 1));
        _pool.Dispose();
        Assert.All(_all, i => Assert.Equal(1, i.Disposals));
        _pool.Validate();
    }

    private sealed class Marked : IDisposable
    {
        internal int Renter;
        internal int Busy;
        internal int Uses;
        internal int Disposals;

        public void Dispose() => Interlocked.Increment(ref Disposals);
    }
}
