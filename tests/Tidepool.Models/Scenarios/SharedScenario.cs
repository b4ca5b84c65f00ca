using System.Diagnostics.CodeAnalysis;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Many renters share the resource of a key, while it grows too old, is marked, cleared or shut down: it is destroyed once, after the last
/// of them returned it; after that no renter gets it, and the policy is not called for it.
/// </summary>
internal sealed class SharedScenario : IScenario
{
    private SharedWorld? _world;

    public int Threads => 3;

    public void Attach(Action<string>? hook)
    {
        Schedule.Hook = hook;
        Schedule.Later = hook is null ? null : _world!.Later;
    }

    public Execution Start(Random random)
    {
        var world = _world = new SharedWorld(random);
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            (int What, int Which)[] program =
                [.. Enumerable.Range(0, random.Next(4, 12)).Select(_ => (random.Next(100), random.Next(1000)))];
            threads.Add(() => Array.ForEach(program, step => world.Step(thread, step.What, step.Which)));
        }

        return new SharedExecution(world, threads);
    }

    private sealed class SharedExecution(SharedWorld world, IReadOnlyList<Action> threads) : Execution
    {
        public override IReadOnlyList<Action> Threads => threads;

        public override void Check()
        {
            Schedule.Later = world.Later;
            try
            {
                world.Check();
            }
            finally
            {
                Schedule.Later = null;
            }
        }

        public override void Abandon()
        {
        }

        public override string ToString() => world.ToString();
    }

    [SuppressMessage("Design", "CA1001", Justification = "The pool is shut down, or abandoned, with its schedule.")]
    [SuppressMessage(
        "Reliability", "CA2012", Justification = "Each rental is looked at until it has completed, and its result taken once.")]
    private sealed class SharedWorld
    {
        private readonly DetachedWork _work = new();
        private readonly List<Rental> _rentals = [];
        private readonly ModelTime _time = new();
        private readonly Policy _policy = new();
        private readonly System.Text.StringBuilder _log = new();
        private readonly KeyedResourcePool<int, ModelResource> _pool;
        private bool _isAdvancing;

        internal SharedWorld(Random random) => _pool = new KeyedResourcePool<int, ModelResource>(_ => _policy, new()
        {
            MaxTotal = random.Next(2, 4),
            PerKey = new()
            {
                Name = "model",
                MaxSize = 2,
                MaxLifetime = TimeSpan.FromMilliseconds(1000),
                LifetimeJitter = 0,
                RentTimeout = Timeout.InfiniteTimeSpan,
                ResetMode = ResetMode.None,
                TimeProvider = _time,
                NextRandom = static () => 0.5,
                Executor = _work.Add,
            },
        });

        internal void Later(Action action) => _work.Add(action);

        internal void Step(int thread, int what, int which)
        {
            Schedule.Point("step");
            Rental[] held = [.. _rentals.Where(static r => r.Holds is not null)];
            Rental[] taken = [.. _rentals.Where(static r => r.Lease is not null)];
            Rental[] open = [.. _rentals.Where(static r => !r.IsTaken)];
            int key = which % 5 == 0 ? 1 : 0;
            switch (what)
            {
                case < 32:
                    Log(thread, $"share {key}");
                    var rental = new Rental { OldestAllowed = key == 0 ? _policy.Cleared : 0 };
                    rental.Task = Share(key, rental.Cancellation.Token);
                    _rentals.Add(rental);
                    break;
                case < 55 when held.Length > 0:
                    Log(thread, "leave");
                    Leave(held[which % held.Length]);
                    break;
                case < 60 when taken.Length > 0:
                    Log(thread, "leave again");
                    Leave(taken[which % taken.Length]);
                    break;
                case < 64 when held.Length > 0:
                    Log(thread, "mark");
                    MarkBroken(held[which % held.Length]);
                    break;
                case < 68 when open.Length > 0:
                    Log(thread, "cancel");
                    open[which % open.Length].Cancellation.Cancel();
                    break;
                case < 74 when !_isAdvancing:
                    Log(thread, "later");
                    _isAdvancing = true;
                    _time.Advance(700);
                    _isAdvancing = false;
                    break;
                case < 78:
                    Log(thread, "clear");
                    Clear();
                    break;
                case < 80:
                    Log(thread, "close");
                    _ = _pool.ShutdownAsync(TimeSpan.Zero);
                    break;
                default:
                    while (_work.TryDo())
                    {
                    }

                    break;
            }

            Look();
        }

        internal void Check()
        {
            for (int round = 0; round < 200 && !_rentals.TrueForAll(static r => r.IsTaken && r.Holds is null); round++)
            {
                while (_work.TryDo())
                {
                }

                Look();
                foreach (Rental rental in _rentals.Where(static r => r.Holds is not null).ToArray())
                {
                    Leave(rental);
                }
            }

            ResourceWorld.Require(_rentals.TrueForAll(static r => r.IsTaken), "a shared rental is never served");
            while (_work.TryDo())
            {
            }

            Look();
            ResourceWorld.Require(
                _pool.Keys.All(k => _pool.GetStatistics(k) is not { Leased: > 0 }), "a resource is leased that no renter shares");
            _ = _pool.ShutdownAsync(TimeSpan.Zero);
            while (_work.TryDo())
            {
            }

            Look();
            ResourceWorld.Require(_pool.GetTotal() == 0, $"{_pool.GetTotal()} resources outlived the pool");
            ResourceWorld.Require(_policy.Resources.TrueForAll(static r => r.Ends == 1), "a resource was not ended");
        }

        public override string ToString() => _log.ToString();

        private void Log(int thread, string what) => _log.Append(System.Globalization.CultureInfo.InvariantCulture, $" T{thread}: {what};");

        /// <summary>A refusal is a task that has failed, as for a caller that awaits.</summary>
        private Task<SharedLease<ModelResource>> Share(int key, CancellationToken cancellation) =>
            _pool.RentSharedAsync(key, cancellation).AsTask();

        private void Clear()
        {
            long newest = _policy.Made;
            try
            {
                _ = _pool.ClearAsync(0);
                _policy.Cleared = Math.Max(_policy.Cleared, newest);
            }
            catch (ResourcePoolShutdownException)
            {
            }
        }

        private void Look()
        {
            foreach (Rental rental in _rentals.Where(static r => !r.IsTaken && r.Task.IsCompleted).ToArray())
            {
                rental.IsTaken = true;
                if (!rental.Task.IsCompletedSuccessfully)
                {
                    Exception? failure = rental.Task.Exception?.InnerException;
                    ResourceWorld.Require(
                        rental.Task.IsCanceled || failure is ResourcePoolShutdownException, $"a rental failed: {failure}");
                    continue;
                }

                rental.Lease = rental.Task.Result;
                ModelResource resource = rental.Lease.Value.Value;
                rental.Holds = resource;
                resource.Users++;
                ResourceWorld.Require(resource.Ends == 0, "a resource was shared after its end");
                ResourceWorld.Require(resource.Number > rental.OldestAllowed, "a resource was shared after it was cleared");
            }

            ResourceWorld.Require(_policy.Fault is null, _policy.Fault ?? string.Empty);
            ResourceWorld.Require(
                _policy.Resources.TrueForAll(static r => r.Users == 0 || r.Ends == 0), "a resource was destroyed while it is shared");
            if (!_isAdvancing)
            {
                _pool.Validate();
            }
        }

        private static void Leave(Rental rental)
        {
            if (rental.Holds is { } resource)
            {
                resource.Users--;
                rental.Holds = null;
            }

            rental.Lease!.Value.Dispose();
        }

        private static void MarkBroken(Rental rental)
        {
            try
            {
                rental.Lease!.Value.MarkBroken();
            }
            catch (ObjectDisposedException)
            {
                // Another thread has left with it in between.
            }
        }
    }

    private sealed class Rental
    {
        internal Task<SharedLease<ModelResource>> Task { get; set; } =
            System.Threading.Tasks.Task.FromResult(default(SharedLease<ModelResource>));

        internal CancellationTokenSource Cancellation { get; } = new();

        internal bool IsTaken { get; set; }

        internal long OldestAllowed { get; init; }

        internal SharedLease<ModelResource>? Lease { get; set; }

        internal ModelResource? Holds { get; set; }
    }

    /// <summary>Says that a resource is broken when its number says so, and notes when it is asked about one that is no more.</summary>
    private sealed class Policy : ResourcePolicy<ModelResource>
    {
        internal List<ModelResource> Resources { get; } = [];

        internal long Made => Resources.Count;

        internal long Cleared { get; set; }

        internal string? Fault { get; private set; }

        public override ValueTask<ModelResource> CreateAsync(CancellationToken cancellationToken)
        {
            Schedule.Point("create");
            var resource = new ModelResource(Resources.Count + 1);
            Resources.Add(resource);
            return new(resource);
        }

        public override bool IsBroken(ModelResource resource)
        {
            Schedule.Point("is broken");
            Expect(resource is { Ends: 0 }, "the policy was asked about a resource that has ended");
            return resource?.Number % 4 == 0;
        }

        public override ValueTask DestroyAsync(ModelResource resource, DestroyReason reason)
        {
            Schedule.Point("destroy");
            Expect(resource.Users == 0, "a resource was destroyed while it is shared");
            Expect(++resource.Ends == 1, "a resource was destroyed twice");
            return default;
        }

        private void Expect(bool holds, string fault) => Fault ??= holds ? null : fault;
    }
}
