using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// A resource pool of its own for one schedule, the rentals from it, a clock that only threads move, and detached work that only threads do.
/// What must never happen is looked for after every step: all other threads stand at points, so nobody is inside the pool's gate.
/// </summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each rental is looked at until it has completed, and its result taken once.")]
internal sealed class ResourceWorld
{
    private static readonly FieldInfo Node = typeof(ValueTask<ResourceLease<ModelResource>>).GetField("_obj", BindingFlags.Instance | BindingFlags.NonPublic)!;

    private readonly List<IThreadPoolWorkItem> _work = [];
    private readonly List<ResourceRental> _rentals = [];
    private readonly ModelTime _time = new();
    private readonly PlainPolicy _policy;
    private readonly StringBuilder _log = new();
    private bool _isAdvancing;
    private string? _fault;
    private int _returning;

    internal ResourceWorld(Random random, int max, bool resetsLate = false)
    {
        _policy = random.Next(3) == 0 ? new PlainPolicy(this, random) : new ModelPolicy(this, random);
        Max = max;
        Pool = new ResourcePool<ModelResource>(_policy, new ResourcePoolOptions<ModelResource>
        {
            Name = "model",
            MaxSize = max,
            MaxCreateConcurrency = random.Next(1, 3),
            ResetMode = resetsLate ? ResetMode.OnRent : ResetMode.None,
            RentTimeout = Timeout.InfiniteTimeSpan,
            TimeProvider = _time,
            Draw = static () => 0.5,
            Executor = _work.Add,
        });
    }

    internal ResourcePool<ModelResource> Pool { get; }

    /// <summary>The largest size that the pool ever had.</summary>
    internal int Max { get; set; }

    internal bool FailsCreations
    {
        get => _policy.Fails;
        set => _policy.Fails = value;
    }

    internal void Rent(int thread, bool isPatient = true)
    {
        Log(thread, "rent");
        var rental = new ResourceRental { OldestAllowed = _policy.Cleared };
        long before = Pool.Core.LastSequence;
        try
        {
            rental.Task = isPatient ? Pool.RentAsync(rental.Cancellation.Token) : Pool.RentAsync(TimeSpan.FromMilliseconds(100), rental.Cancellation.Token);
        }
        catch (ResourcePoolException)
        {
            return;
        }

        rental.Waiter = Node.GetValue(rental.Task) as Waiter<ModelResource>;
        if (rental.Waiter is null && rental.Task.IsCompletedSuccessfully && Pool.Core.FirstWaiter is { } first && first.Sequence <= before)
        {
            throw new ScheduleException("a newcomer overtook a rental that waits");
        }

        rental.Sequence = rental.Waiter?.Sequence ?? 0;
        _rentals.Add(rental);
        Poll(rental);
        Look();
    }

    internal void TryRent(int thread)
    {
        Log(thread, "try");
        long before = Pool.Core.LastSequence;
        long cleared = _policy.Cleared;
        try
        {
            if (Pool.TryRent(out ResourceLease<ModelResource> lease))
            {
                if (Pool.Core.FirstWaiter is { } first && first.Sequence <= before)
                {
                    throw new ScheduleException("TryRent overtook a rental that waits");
                }

                var rental = new ResourceRental { IsTaken = true, OldestAllowed = cleared };
                _rentals.Add(rental);
                Hold(rental, lease);
            }
        }
        catch (ResourcePoolShutdownException)
        {
        }

        Look();
    }

    /// <summary>Looks at the rentals that wait; takes what came.</summary>
    internal void PollAll()
    {
        foreach (ResourceRental rental in _rentals.ToArray())
        {
            Poll(rental);
        }

        Look();
    }

    internal void Return(int thread, int which, bool again = false)
    {
        ResourceRental[] held = [.. _rentals.Where(r => r.Lease is not null && (again || r.Holds is not null))];
        if (held.Length == 0)
        {
            return;
        }

        ResourceRental rental = held[which % held.Length];
        Log(thread, again ? "return again" : "return");
        Drop(rental);
        _returning++;
        rental.Lease!.Value.Dispose();
        _returning--;
        Look();
    }

    internal void Detach(int thread, int which)
    {
        if (Held(which) is { } rental)
        {
            Log(thread, "detach");
            ModelResource resource = rental.Holds!;
            Drop(rental);
            rental.Lease!.Value.Detach();
            resource.IsDetached = true;
            Look();
        }
    }

    internal void Break(int thread, int which)
    {
        if (Held(which) is { } rental)
        {
            Log(thread, "break");
            rental.Holds!.IsDead = true;
        }
    }

    internal void Cancel(int thread, int which)
    {
        ResourceRental[] open = [.. _rentals.Where(static r => !r.IsTaken)];
        if (open.Length > 0)
        {
            Log(thread, "cancel");
            open[which % open.Length].Cancellation.Cancel();
            Look();
        }
    }

    internal void Clear(int thread)
    {
        Log(thread, "clear");
        try
        {
            long newest = _policy.Made;
            _ = Pool.ClearAsync();
            _policy.Cleared = Math.Max(_policy.Cleared, newest);
        }
        catch (ResourcePoolShutdownException)
        {
        }

        Look();
    }

    internal void Resize(int thread, int max)
    {
        Log(thread, $"resize {max}");
        try
        {
            Max = Math.Max(Max, max);
            Pool.Resize(0, max);
        }
        catch (ResourcePoolShutdownException)
        {
        }

        Look();
    }

    internal void Close(int thread)
    {
        Log(thread, "close");
        _ = Pool.ShutdownAsync(TimeSpan.Zero);
        Look();
    }

    internal void Advance(int thread, int milliseconds)
    {
        if (_isAdvancing)
        {
            return;
        }

        Log(thread, $"+{milliseconds} ms");
        _isAdvancing = true;
        _time.Advance(milliseconds);
        _isAdvancing = false;
        Look();
    }

    /// <summary>Does one piece of detached work, if there is one.</summary>
    internal bool Work(int thread)
    {
        Schedule.Point("work");
        if (_work.Count == 0)
        {
            return false;
        }

        IThreadPoolWorkItem item = _work[0];
        _work.RemoveAt(0);
        Log(thread, "work");
        item.Execute();
        Look();
        return true;
    }

    /// <summary>Everybody has ended: what is held goes back, all work is done, and then nobody may wait and nothing may be lost.</summary>
    internal void Check()
    {
        FailsCreations = false;
        for (int round = 0; round < 200; round++)
        {
            bool isQuiet = !Work(9);
            PollAll();
            foreach (ResourceRental rental in _rentals.Where(static r => r.Holds is not null).ToArray())
            {
                isQuiet = false;
                Drop(rental);
                rental.Lease!.Value.Dispose();
            }

            if (isQuiet && _rentals.TrueForAll(static r => r.IsTaken))
            {
                break;
            }

            if (isQuiet)
            {
                Advance(9, 50); // a failed creation is tried again
            }
        }

        Require(_rentals.TrueForAll(static r => r.IsTaken), "a rental waits for ever");
        Pool.Validate();
        ResourcePoolStatistics s = Pool.GetStatistics();
        Require(s.Leased == 0 && s.Waiting == 0 && s.Creating == 0, $"something is left: {s}");
        _ = Pool.ShutdownAsync(TimeSpan.Zero);
        while (Work(9))
        {
        }

        Pool.Validate();
        s = Pool.GetStatistics();
        Require(s.Total + s.Destroying == 0, $"something outlived the pool: {s}");
        Require(_fault is null, _fault ?? string.Empty);
        Require(_policy.Resources.All(static r => r.Ends == (r.IsDetached ? 0 : 1)), "a resource was not ended");
    }

    public override string ToString() => _log.ToString();

    internal void Log(int thread, string what) => _log.Append(System.Globalization.CultureInfo.InvariantCulture, $" T{thread}: {what};");

    internal static void Require(bool holds, string fault)
    {
        if (!holds)
        {
            throw new ScheduleException(fault);
        }
    }

    /// <summary>What the policy saw: the pool survives a policy that throws, so it is kept for the next look.</summary>
    internal void Expect(bool holds, string fault) => _fault ??= holds ? null : fault;

    /// <summary>A creation ends: no more live than there are places.</summary>
    internal void LookAtCapacity() => Expect(
        _policy.Resources.Count(static r => r.Ends == 0 && !r.IsDetached) <= Max,
        "more resources live than there are places");

    private ResourceRental? Held(int which)
    {
        ResourceRental[] held = [.. _rentals.Where(static r => r.Holds is not null)];
        return held.Length == 0 ? null : held[which % held.Length];
    }

    private void Poll(ResourceRental rental)
    {
        if (rental.IsTaken || !rental.Task.IsCompleted)
        {
            return;
        }

        rental.IsTaken = true;
        rental.Waiter = null;
        try
        {
            Hold(rental, rental.Task.GetAwaiter().GetResult());
        }
        catch (Exception e) when (e is OperationCanceledException or ResourcePoolException)
        {
        }
    }

    private void Hold(ResourceRental rental, ResourceLease<ModelResource> lease)
    {
        ModelResource resource = lease.Value;
        rental.Lease = lease;
        rental.Holds = resource;
        Require(++resource.Users == 1, "a resource has two renters");
        Require(resource.Ends == 0, "a resource was rented after its end");
        Require(resource.Number > rental.OldestAllowed, "a resource was rented after it was cleared");
    }

    private static void Drop(ResourceRental rental)
    {
        if (rental.Holds is { } resource)
        {
            resource.Users--;
            rental.Holds = null;
        }
    }

    /// <summary>What must hold whenever nobody is inside the gate.</summary>
    private void Look()
    {
        Require(_fault is null, _fault ?? string.Empty);
        Require(_returning > 0 || !Pool.Core.IsHotStranded, "somebody waits, and a resource lies where nobody looks");
        ResourceRental[] waiting = [.. _rentals.Where(static r => r.Waiter is not null).OrderBy(static r => r.Sequence)];
        int queued = Array.FindIndex(waiting, static r => r.Waiter!.State == WaiterState.Queued);
        Require(
            queued < 0 || !waiting.Skip(queued).Any(static r => r.Waiter!.State == WaiterState.Assigned),
            "a rental was served before one that came earlier");
        if (!_isAdvancing)
        {
            Pool.Validate();
        }

        ResourcePoolStatistics s = Pool.GetStatistics();
        Require(s.Total == s.Created - s.Destroyed - s.Detached, $"the numbers do not add up: {s}");
        Require(s.Total + s.Creating + s.Destroying <= Max, $"more places are taken than there are: {s}");
    }
}

/// <summary>One rental of the model.</summary>
internal sealed class ResourceRental
{
    internal ValueTask<ResourceLease<ModelResource>> Task { get; set; }

    internal Waiter<ModelResource>? Waiter { get; set; }

    internal long Sequence { get; set; }

    internal CancellationTokenSource Cancellation { get; } = new();

    internal bool IsTaken { get; set; }

    /// <summary>Resources up to this number were cleared before it began.</summary>
    internal long OldestAllowed { get; init; }

    internal ResourceLease<ModelResource>? Lease { get; set; }

    internal ModelResource? Holds { get; set; }
}

/// <summary>A resource of the model: counts its users and its ends.</summary>
internal sealed class ModelResource(long number)
{
    internal long Number => number;

    internal int Users { get; set; }

    internal int Ends { get; set; }

    internal bool IsDead { get; set; }

    internal bool IsDetached { get; set; }
}

/// <summary>Looks for what is broken and resets.</summary>
internal sealed class ModelPolicy(ResourceWorld world, Random random) : PlainPolicy(world, random)
{
    public override bool IsBroken(ModelResource resource)
    {
        Schedule.Point("is broken");
        return resource.IsDead;
    }

    public override ValueTask<bool> ResetAsync(ModelResource resource, CancellationToken cancellationToken)
    {
        Schedule.Point("reset");
        return new(resource.Number % 7 != 0);
    }
}

/// <summary>Makes resources at once, or fails; each end is noted. It has nothing to do when one is returned.</summary>
internal class PlainPolicy(ResourceWorld world, Random random) : ResourcePolicy<ModelResource>
{
    internal List<ModelResource> Resources { get; } = [];

    internal bool Fails { get; set; }

    internal long Made { get; private set; }

    /// <summary>Resources up to this number were cleared.</summary>
    internal long Cleared { get; set; }

    public override ValueTask<ModelResource> CreateAsync(CancellationToken cancellationToken)
    {
        Schedule.Point("create");
        if (Fails && random.Next(2) == 0)
        {
            throw new IOException("as asked");
        }

        var resource = new ModelResource(++Made);
        Resources.Add(resource);
        world.LookAtCapacity();
        return new(resource);
    }

    public override ValueTask<bool> ValidateAsync(ModelResource resource, CancellationToken cancellationToken)
    {
        Schedule.Point("validate");
        world.Expect(resource.Users == 0, "a resource is validated while it is leased");
        return new(resource.Number % 5 != 0);
    }

    public override ValueTask DestroyAsync(ModelResource resource, DestroyReason reason)
    {
        Schedule.Point("destroy");
        world.Expect(resource.Users == 0, "a leased resource was ended");
        world.Expect(++resource.Ends == 1, "a resource was ended twice");
        return default;
    }
}

/// <summary>A clock that only the threads of the model move; its timers fire on the thread that moves it.</summary>
internal sealed class ModelTime : TimeProvider
{
    private readonly List<ModelTimer> _timers = [];
    private long _now;

    public override long TimestampFrequency => 1000;

    public override long GetTimestamp() => _now;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddMilliseconds(_now);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ModelTimer(this, callback, state);
        _timers.Add(timer);
        return timer;
    }

    internal void Advance(int milliseconds)
    {
        long end = _now + milliseconds;
        while (_timers.Where(t => t.Due <= end).MinBy(static t => t.Due) is { } timer)
        {
            _now = Math.Max(_now, timer.Due);
            timer.Due = long.MaxValue;
            timer.Fire();
        }

        _now = end;
    }

    private sealed class ModelTimer(ModelTime time, TimerCallback callback, object? state) : ITimer
    {
        internal long Due { get; set; } = long.MaxValue;

        internal void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            Due = dueTime == Timeout.InfiniteTimeSpan ? long.MaxValue : time._now + (long)dueTime.TotalMilliseconds;
            return true;
        }

        public void Dispose() => time._timers.Remove(this);

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }
    }
}
