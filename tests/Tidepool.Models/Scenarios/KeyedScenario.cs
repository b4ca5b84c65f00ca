using System.Diagnostics.CodeAnalysis;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Keys come and go under one limit: a rental that races with the forgetting of its key gets a live one, and no place is lost or given twice.</summary>
internal sealed class KeyedScenario : IScenario
{
    public int Threads => 3;

    public void Attach(Action<string>? hook) => Schedule.Hook = hook;

    public Execution Start(Random random)
    {
        var world = new KeyedWorld(random.Next(1, 4), random.Next(3) > 0);
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            (int What, int Which)[] program = [.. Enumerable.Range(0, random.Next(4, 12)).Select(_ => (random.Next(100), random.Next(1000)))];
            threads.Add(() => Array.ForEach(program, step => world.Step(step.What, step.Which)));
        }

        return new KeyedExecution(world, threads);
    }

    private sealed class KeyedExecution(KeyedWorld world, IReadOnlyList<Action> threads) : Execution
    {
        public override IReadOnlyList<Action> Threads => threads;

        public override void Check() => world.Check();

        public override void Abandon()
        {
        }
    }

    [SuppressMessage("Design", "CA1001", Justification = "The pool is shut down, or abandoned, with its schedule.")]
    [SuppressMessage("Reliability", "CA2012", Justification = "Each rental is looked at until it has completed, and its result taken once.")]
    private sealed class KeyedWorld
    {
        private readonly DetachedWork _work = new();
        private readonly List<Rental> _rentals = [];
        private readonly ModelTime _time = new();
        private readonly Policy _policy;
        private readonly KeyedResourcePool<int, ModelResource> _pool;
        private bool _isAdvancing;

        internal KeyedWorld(int maxTotal, bool steals)
        {
            _policy = new Policy(maxTotal);
            _pool = new KeyedResourcePool<int, ModelResource>(_policy, new()
            {
                MaxTotal = maxTotal,
                StealIdleAcrossKeys = steals,
                PerKey = new()
                {
                    Name = "model",
                    MaxSize = 2,
                    IdleTimeout = TimeSpan.FromMilliseconds(500),
                    RentTimeout = Timeout.InfiniteTimeSpan,
                    TimeProvider = _time,
                    Draw = static () => 0.5,
                    Executor = _work.Add,
                },
            });
        }

        internal void Step(int what, int which)
        {
            Schedule.Point("step");
            switch (what)
            {
                case < 35:
                    var rental = new Rental();
                    rental.Task = _pool.RentPlain(which % 3, ResourceSettings.Forever, rental.Cancellation.Token);
                    _rentals.Add(rental);
                    break;
                case < 60:
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
                case < 92:
                    Rental[] open = [.. _rentals.Where(static r => !r.IsTaken)];
                    if (open.Length > 0)
                    {
                        open[which % open.Length].Cancellation.Cancel();
                    }

                    break;
                case < 96 when !_isAdvancing:
                    _isAdvancing = true;
                    _time.Advance(600);
                    _isAdvancing = false;
                    break;
                default:
                    _ = _pool.ClearAsync(which % 3);
                    break;
            }

            Poll();
            ResourceWorld.Require(_policy.Fault is null, _policy.Fault ?? string.Empty);
            if (!_isAdvancing)
            {
                _pool.Validate();
            }
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
                    _time.Advance(600); // without taking from others, a place comes free when an idle resource grows old
                }
            }

            ResourceWorld.Require(_rentals.TrueForAll(static r => r.IsTaken), $"a rental waits for ever: {string.Join(" ", _pool.Keys.Select(k => $"{k}: {_pool.GetStatistics(k)}"))}");
            _pool.Validate();
            for (int round = 0; round < 20; round++)
            {
                _time.Advance(600);
                while (_work.TryDo())
                {
                }
            }

            ResourceWorld.Require(_pool.GetTotal() == 0 && _pool.Keys.Count == 0, $"{_pool.GetTotal()} resources and {_pool.Keys.Count} keys are left");
            ResourceWorld.Require(_policy.Resources.TrueForAll(static r => r.Ends == 1), "a resource was not ended");
        }

        private void Poll()
        {
            foreach (Rental rental in _rentals.Where(static r => !r.IsTaken).ToArray())
            {
                if (rental.IsTaken || !rental.Task.IsCompleted)
                {
                    continue;
                }

                rental.IsTaken = true;
                try
                {
                    ResourceLease<ModelResource> lease = rental.Task.GetAwaiter().GetResult();
                    rental.Lease = lease;
                    ResourceWorld.Require(++lease.Value.Users == 1, "a resource has two renters");
                    ResourceWorld.Require(lease.Value.Ends == 0, "a resource was rented after its end");
                }
                catch (OperationCanceledException)
                {
                }
            }
        }

        private static void Return(Rental rental, bool isBroken)
        {
            ResourceLease<ModelResource> lease = rental.Lease!.Value;
            rental.Lease = null;
            lease.Value.Users--;
            lease.Value.IsDead |= isBroken;
            lease.Dispose();
        }
    }

    private sealed class Rental
    {
        internal ValueTask<ResourceLease<ModelResource>> Task { get; set; }

        internal CancellationTokenSource Cancellation { get; } = new();

        internal bool IsTaken { get; set; }

        internal ResourceLease<ModelResource>? Lease { get; set; }
    }

    private sealed class Policy(int maxTotal) : KeyedResourcePolicy<int, ModelResource>
    {
        internal List<ModelResource> Resources { get; } = [];

        internal string? Fault { get; private set; }

        public override ValueTask<ModelResource> CreateAsync(int key, CancellationToken cancellationToken)
        {
            Schedule.Point("create");
            var resource = new ModelResource(Resources.Count + 1);
            Resources.Add(resource);
            Expect(Resources.Count(static r => r.Ends == 0) <= maxTotal, "more resources live than there are places for all keys");
            return new(resource);
        }

        private void Expect(bool holds, string fault) => Fault ??= holds ? null : fault;

        public override bool IsBroken(ModelResource resource) => resource.IsDead;

        public override ValueTask DestroyAsync(ModelResource resource, DestroyReason reason)
        {
            Schedule.Point("destroy");
            Expect(resource.Users == 0, "a leased resource was ended");
            Expect(++resource.Ends == 1, "a resource was ended twice");
            return default;
        }
    }
}
