using System.Diagnostics.CodeAnalysis;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// A keyed pool of its own for one schedule, the rentals from it, a clock that only threads move, and detached work that only threads do.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The pool is shut down, or abandoned, with its schedule.")]
[SuppressMessage("Reliability", "CA2012", Justification = "Each rental is looked at until it has completed, and its result taken once.")]
internal sealed class KeyedWorld
{
    private readonly DetachedWork _work = new();
    private readonly List<Rental> _rentals = [];
    private readonly ModelTime _time = new();
    private readonly List<ModelResource> _resources = [];
    private readonly StringBuilder _log = new();
    private readonly KeyedResourcePool<int, ModelResource> _pool;
    private readonly int _maxTotal;
    private readonly bool _isAlone;
    private string? _fault;
    private bool _isAdvancing;
    private bool _isClosed;

    internal KeyedWorld(Random random, int maxTotal, bool steals, bool isAlone = false)
    {
        (_maxTotal, _isAlone) = (maxTotal, isAlone);
        bool resets = random.Next(2) == 0;
        _pool = new KeyedResourcePool<int, ModelResource>(key => resets ? new ResettingPolicy(this, key) : new Policy(this, key), new()
        {
            MaxTotal = maxTotal,
            StealIdleAcrossKeys = steals,
            PerKey = new()
            {
                Name = "model",
                MaxSize = 2,
                IdleTimeout = TimeSpan.FromMilliseconds(500),
                CreateTimeout = Timeout.InfiniteTimeSpan, // a thread stands still in the policy for as long as a schedule wants
                PolicyTimeout = Timeout.InfiniteTimeSpan,
                RentTimeout = Timeout.InfiniteTimeSpan,
                TimeProvider = _time,
                NextRandom = static () => 0.5,
                Executor = _work.Add,
            },
        });
    }

    public override string ToString() => _log.ToString();

    internal void Step(int what, int which, bool parks)
    {
        Schedule.Point("step");
        switch (what)
        {
            case < 25 when parks:
                RentParked(which % 3, isPatient: which % 4 != 0);
                break;
            case < 40:
                Log($"rent {which % 3}");
                var rental = new Rental(which % 3);
                rental.Task = _pool.RentPlain(which % 3, ResourceSettings.NoLimit, rental.Cancellation.Token);
                _rentals.Add(rental);
                break;
            case < 62:
                Poll();
                if (_rentals.Find(static r => r.Lease is not null) is { } held)
                {
                    Return(held, isBroken: which % 4 == 0);
                }

                break;
            case < 85:
                while (_work.TryDo())
                {
                }

                break;
            case < 91:
                Rental[] open = [.. _rentals.Where(static r => !r.IsTaken)];
                if (open.Length > 0)
                {
                    Log("cancel");
                    open[which % open.Length].Cancellation.Cancel();
                }

                break;
            case < 96:
                Advance(which % 2 == 0 ? 600 : 120);
                break;
            case < 97:
                Log("close");
                _isClosed = true;
                _ = _pool.ShutdownAsync(TimeSpan.Zero);
                break;
            default:
                Log($"clear {which % 3}");
                _ = Try(() => _pool.ClearAsync(which % 3));
                break;
        }

        Look();
    }

    /// <summary>Returns what others hold, works, and lets time pass when nothing else helps.</summary>
    internal void Help(int round)
    {
        while (_work.TryDo())
        {
        }

        Poll();
        if (_rentals.Find(static r => r.Lease is not null) is { } held)
        {
            Return(held, isBroken: false);
        }
        else if (round % 8 == 7)
        {
            Advance(600); // without taking from others, a place comes free when an idle resource grows old
        }

        Look();
        Schedule.Point("spin");
    }

    /// <summary>Rents with the calling thread, and returns at once.</summary>
    internal void UseParked(int key, bool isBroken)
    {
        RentParked(key, isPatient: true);
        Return(_rentals.FindLast(r => r.Lease is not null && r.Thread == Environment.CurrentManagedThreadId)!, isBroken);
        Look();
    }

    internal void Check()
    {
        for (int round = 0; round < 200; round++)
        {
            bool isQuiet = !_work.TryDo();
            Poll();
            foreach (Rental rental in _rentals.Where(static r => r.Lease is not null).ToArray())
            {
                isQuiet = false;
                Return(rental, isBroken: false);
            }

            if (isQuiet && _rentals.TrueForAll(static r => r.IsTaken))
            {
                break;
            }

            if (isQuiet && round > 100)
            {
                _time.Advance(600);
            }
        }

        ResourceWorld.Require(
            _rentals.TrueForAll(static r => r.IsTaken),
            $"a rental is never served: {string.Join(" ", _pool.Keys.Select(k => $"{k}: {_pool.GetStatistics(k)}"))}");
        _pool.Validate();
        for (int round = 0; round < 20; round++)
        {
            _time.Advance(600);
            while (_work.TryDo())
            {
            }
        }

        int keys = _isClosed ? 0 : _pool.Keys.Count;
        ResourceWorld.Require(_pool.GetTotal() == 0 && keys == 0, $"{_pool.GetTotal()} resources and {keys} keys are left");
        ResourceWorld.Require(_fault is null, _fault ?? string.Empty);
        ResourceWorld.Require(_resources.TrueForAll(static r => r.Ends == 1), "a resource was not ended");
    }

    private static Task Try(Func<Task> act)
    {
        try
        {
            return act();
        }
        catch (ResourcePoolShutdownException)
        {
            return Task.CompletedTask;
        }
    }

    private void RentParked(int key, bool isPatient)
    {
        Log($"park {key}");
        var rental = new Rental(key) { IsParked = true };
        _rentals.Add(rental);
        try
        {
            Hold(rental, _pool.RentParked(key, isPatient ? ResourceSettings.NoLimit : 100, rental.Cancellation.Token));
        }
        catch (Exception e) when (e is OperationCanceledException or ResourcePoolException)
        {
            Log("gave up");
        }

        rental.IsTaken = true;
    }

    private void Advance(int milliseconds)
    {
        if (!_isAdvancing)
        {
            Log($"advance {milliseconds}");
            _isAdvancing = true;
            _time.Advance(milliseconds);
            _isAdvancing = false;
        }
    }

    private void Poll()
    {
        foreach (Rental rental in _rentals.Where(static r => !r.IsTaken && !r.IsParked).ToArray())
        {
            if (rental.IsTaken || !rental.Task.IsCompleted)
            {
                continue;
            }

            rental.IsTaken = true;
            try
            {
                Hold(rental, rental.Task.GetAwaiter().GetResult());
            }
            catch (Exception e) when (e is OperationCanceledException or ResourcePoolException)
            {
            }
        }
    }

    private void Hold(Rental rental, ResourceLease<ModelResource> lease)
    {
        rental.Lease = lease;
        rental.Thread = Environment.CurrentManagedThreadId;
        ResourceWorld.Require(++lease.Value.Users == 1, "a resource has two renters");
        ResourceWorld.Require(lease.Value.Ends == 0, "a resource was rented after its end");
        ResourceWorld.Require(lease.Value.Number % 3 == rental.Key, "a resource of another key was rented");
    }

    private void Return(Rental rental, bool isBroken)
    {
        Log(isBroken ? "return a broken one" : "return");
        ResourceLease<ModelResource> lease = rental.Lease!.Value;
        rental.Lease = null;
        lease.Value.Users--;
        lease.Value.IsDead |= isBroken;
        lease.Dispose();
    }

    private void Look()
    {
        ResourceWorld.Require(_fault is null, _fault ?? string.Empty);
        if (!_isAdvancing)
        {
            _pool.Validate();
        }
    }

    private void Log(string what) => _log.Append(' ').Append(what).Append(';');

    private void Expect(bool holds, string fault) => _fault ??= holds ? null : fault;

    private ModelResource Make(int key)
    {
        var resource = new ModelResource((_resources.Count * 3) + key);
        _resources.Add(resource);
        Expect(_resources.Count(static r => r.Ends == 0) <= _maxTotal, "more resources live than there are places for all keys");
        return resource;
    }

    private sealed class Rental(int key)
    {
        internal int Key => key;

        internal ValueTask<ResourceLease<ModelResource>> Task { get; set; }

        internal CancellationTokenSource Cancellation { get; } = new();

        internal bool IsTaken { get; set; }

        /// <summary>A thread stands still for it.</summary>
        internal bool IsParked { get; init; }

        internal int Thread { get; set; }

        internal ResourceLease<ModelResource>? Lease { get; set; }
    }

    /// <summary>The policy of one key; the number of each of its resources tells the key.</summary>
    private class Policy(KeyedWorld world, int key) : ResourcePolicy<ModelResource>
    {
        private protected KeyedWorld World => world;

        public override ValueTask<ModelResource> CreateAsync(CancellationToken cancellationToken)
        {
            Schedule.Point("create");
            return new(world.Make(key));
        }

        public override ModelResource Create(CancellationToken cancellationToken)
        {
            Schedule.Point("create here");
            return world.Make(key);
        }

        public override bool IsBroken(ModelResource resource) => resource.IsDead;

        public override ValueTask DestroyAsync(ModelResource resource, DestroyReason reason)
        {
            Schedule.Point("destroy");
            world.Expect(resource.Number % 3 == key, "a policy was given a resource of another key");
            world.Expect(resource.Users == 0, "a leased resource was destroyed");
            world.Expect(++resource.Ends == 1, "a resource was destroyed twice");
            return default;
        }
    }

    /// <summary>Has two resets: the asynchronous one ends on another thread, which does not come where parked threads are alone.</summary>
    private sealed class ResettingPolicy(KeyedWorld world, int key) : Policy(world, key)
    {
        public override async ValueTask<bool> ResetAsync(ModelResource resource, CancellationToken cancellationToken)
        {
            Schedule.Point("reset");
            World.Expect(resource.Users == 0, "a leased resource is reset");
            if (World._isAlone)
            {
                var come = new TaskCompletionSource();
                World._work.Add(come.SetResult);
                await come.Task.ConfigureAwait(false);
            }

            return true;
        }

        public override bool? Reset(ModelResource resource)
        {
            Schedule.Point("reset here");
            World.Expect(resource.Users == 0, "a leased resource is reset");
            return true;
        }
    }
}
