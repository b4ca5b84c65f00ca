using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// A resource pool of its own for one schedule, the rentals from it, a clock that only threads move, and detached work that only threads
/// do. The invariants are checked after every step: all other threads stand at points, so none is inside the pool's gate.
/// </summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each rental is looked at until it has completed, and its result taken once.")]
internal sealed class ResourceWorld
{
    private static readonly FieldInfo Node =
        typeof(ValueTask<ResourceLease<ModelResource>>).GetField("_obj", BindingFlags.Instance | BindingFlags.NonPublic)!;

    /// <summary>
    /// Longer than a schedule: where nothing hangs, nothing is abandoned, however long a thread stands still in the policy, because
    /// its resource lives until the policy has returned.
    /// </summary>
    private const int NoTimeout = 100_000;

    private readonly DetachedWork _work = new();
    private readonly List<ResourceRental> _rentals = [];
    private readonly ModelTime _time = new();
    private readonly PlainPolicy _policy;
    private readonly StringBuilder _log = new();
    private readonly List<(Waiter<ModelResource> Node, long Sequence)> _parked = [];
    private readonly HashSet<long> _worked = []; // parked rentals that have left the queue to work for themselves
    private readonly bool _mayHang;
    private bool _isAdvancing;
    private string? _fault;
    private int _returning;

    [ThreadStatic]
    private static bool t_isReleaser;

    [ThreadStatic]
    private static bool t_wasQueued;

    [ThreadStatic]
    private static long t_sequence; // of the rental that this thread parks for

    internal ResourceWorld(Random random, int max, bool resetsLate = false, bool mayHang = false, bool isAlone = false)
    {
        _policy = random.Next(3) == 0 ? new PlainPolicy(this, random) : new ModelPolicy(this, random);
        _mayHang = mayHang;
        IsAlone = isAlone;
        Max = max;
        Pool = new ResourcePool<ModelResource>(_policy, new ResourcePoolOptions
        {
            Name = "model",
            MaxSize = max,
            MinSize = isAlone ? random.Next(max + 1) : 0,
            MaxCreateConcurrency = random.Next(1, 3),
            ResetMode = resetsLate ? ResetMode.OnRent : (mayHang || isAlone) && random.Next(2) == 0 ? ResetMode.Background : ResetMode.None,
            CreateTimeout = TimeSpan.FromMilliseconds(mayHang ? 1000 : NoTimeout),
            PolicyTimeout = TimeSpan.FromMilliseconds(mayHang ? 400 : NoTimeout),
            KeepAliveInterval = mayHang ? TimeSpan.FromMilliseconds(300) : Timeout.InfiniteTimeSpan,
            RentTimeout = Timeout.InfiniteTimeSpan,
            TimeProvider = _time,
            NextRandom = static () => 0.5,
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

    /// <summary>Whether operations may begin to hang.</summary>
    internal bool Hangs
    {
        get => _policy.Hangs;
        set => _policy.Hangs = value;
    }

    /// <summary>This thread must not hang, because it is the one that releases what hangs.</summary>
    internal static bool IsReleaser
    {
        get => t_isReleaser;
        set => t_isReleaser = value;
    }

    /// <summary>Nobody does detached work before the end.</summary>
    internal bool IsAlone { get; }

    /// <summary>Connects the points of the core, for scenarios with parked rentals.</summary>
    internal void Attach(Action<string>? hook) => Schedule.Hook = hook is null ? null : place =>
    {
        AtPoint(place);
        hook(place);
    };

    /// <summary>
    /// Called at each point of each thread: notes which parked rentals have worked for themselves, because those that stand behind them
    /// may be served meanwhile.
    /// </summary>
    private void AtPoint(string place)
    {
        if (t_wasQueued && t_sequence == 0)
        {
            t_sequence = Pool.Core.State.LastSequence; // no other thread has run since
        }

        t_wasQueued |= place == "queue";
        if (place is "created" or "checked" or "hand over" or "end here")
        {
            _worked.Add(t_sequence);
        }

        for (Waiter<ModelResource>? waiter = Pool.Core.State.FirstWaiter; waiter is not null; waiter = waiter.Links.Newer)
        {
            if (waiter.IsSync && !_parked.Exists(p => p.Sequence == waiter.Sequence))
            {
                _parked.Add((waiter, waiter.Sequence));
            }
        }
    }

    /// <summary>Rents with the calling thread, which stands still until it has its turn.</summary>
    internal void RentParked(int thread, bool isPatient = true)
    {
        Log(thread, "park");
        var rental = new ResourceRental { OldestAllowed = _policy.Cleared, IsParked = true };
        _rentals.Add(rental);
        long before = Pool.Core.State.LastSequence;
        (t_wasQueued, t_sequence) = (false, 0);
        try
        {
            TimeSpan timeout = isPatient ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(100);
            ResourceLease<ModelResource> lease = Pool.Rent(timeout, rental.Cancellation.Token);
            Require(t_wasQueued || !HasOvertaken(before), "a newcomer that parks overtook a rental that waits");
            Hold(rental, lease);
            Log(thread, "got");
        }
        catch (Exception e) when (e is OperationCanceledException or ResourcePoolException)
        {
            Log(thread, "gave up");
        }

        rental.IsTaken = true;
        Look();
    }

    /// <summary>Lets one of the operations that hang go on.</summary>
    internal bool Release(int thread, int which)
    {
        if (_policy.Hanging.Count == 0)
        {
            return false;
        }

        Log(thread, "release");
        TaskCompletionSource hang = _policy.Hanging[which % _policy.Hanging.Count];
        _policy.Hanging.Remove(hang);
        hang.TrySetResult();
        Look();
        return true;
    }

    internal void Rent(int thread, bool isPatient = true)
    {
        Log(thread, "rent");
        var rental = new ResourceRental { OldestAllowed = _policy.Cleared };
        long before = Pool.Core.State.LastSequence;
        try
        {
            rental.Task = isPatient
                ? Pool.RentAsync(rental.Cancellation.Token)
                : Pool.RentAsync(TimeSpan.FromMilliseconds(100), rental.Cancellation.Token);
        }
        catch (ResourcePoolException)
        {
            return;
        }

        rental.Waiter = Node.GetValue(rental.Task) as Waiter<ModelResource>;
        Require(
            rental.Waiter is not null || !rental.Task.IsCompletedSuccessfully || !HasOvertaken(before),
            "a newcomer overtook a rental that waits");

        rental.Sequence = rental.Waiter?.Sequence ?? 0;
        _rentals.Add(rental);
        Poll(rental);
        Look();
    }

    internal void TryRent(int thread)
    {
        Log(thread, "try");
        long before = Pool.Core.State.LastSequence;
        long cleared = _policy.Cleared;
        try
        {
            if (Pool.TryRent(out ResourceLease<ModelResource> lease))
            {
                bool isFirst = Pool.Core.State.FirstWaiter is not { IsSync: false } first || first.Sequence > before;
                Require(isFirst, "TryRent overtook a rental that waits");

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

    internal void Renew(int thread)
    {
        Log(thread, "renew");
        _ = Pool.RenewAsync(TimeSpan.FromDays(1));
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
        if (!_work.TryTake(out IThreadPoolWorkItem? item))
        {
            return false;
        }

        Log(thread, "work");
        item.Execute();
        Look();
        return true;
    }

    /// <summary>Ends when a thread comes that does detached work.</summary>
    internal Task OnAnotherThread()
    {
        var come = new TaskCompletionSource();
        _work.Add(come.SetResult);
        return come.Task;
    }

    /// <summary>Returns what is held and does all work; then no rental may wait and no resource may be lost.</summary>
    internal void Check()
    {
        FailsCreations = Hangs = false;
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

        Require(_rentals.TrueForAll(static r => r.IsTaken), "a rental is never served");
        while (Release(9, 0) || Work(9))
        {
        }

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
        _mayHang || _policy.Resources.Count(static r => r.Ends == 0 && !r.IsDetached) <= Max,
        "more resources live than there are places");

    private ResourceRental? Held(int which)
    {
        ResourceRental[] held = [.. _rentals.Where(static r => r.Holds is not null)];
        return held.Length == 0 ? null : held[which % held.Length];
    }

    /// <summary>
    /// A rental that did not wait is over: none may wait that began before it did. Exact for parked rentals only where nothing lies between
    /// the taking of the resource and this look, because those that work for themselves come back to the queue.
    /// </summary>
    private bool HasOvertaken(long before) =>
        Pool.Core.State.FirstWaiter is { } first && first.Sequence <= before && (!first.IsSync || _policy is not ModelPolicy);

    private void Poll(ResourceRental rental)
    {
        if (rental.IsParked || rental.IsTaken || !rental.Task.IsCompleted)
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
        Require(!resource.IsBusy, "a resource was rented while the policy works on it");
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

    /// <summary>Checks what must hold whenever no thread is inside the gate.</summary>
    private void Look()
    {
        Require(_fault is null, _fault ?? string.Empty);
        Require(_returning > 0 || !Pool.Core.State.Hot.IsClosedWithItem, "a caller waits, and a resource stays in the closed hot slot");
        Require(
            _returning > 0 || !Pool.Core.State.Hot.IsReady || Pool.Core.Timer.Due < ResourceSettings.NoLimit,
            "a resource is in the hot slot, and no timer will look at it");
        IEnumerable<(long Sequence, WaiterState State, bool HasWorked)> waiting = _rentals
            .Where(static r => r.Waiter is not null).Select(static r => (r.Sequence, r.Waiter!.State, false))
            .Concat(_parked
                .Where(static p => p.Node.Sequence == p.Sequence)
                .Select(p => (p.Sequence, p.Node.State, _worked.Contains(p.Sequence))));
        long queued = waiting
            .Where(static w => w.State == WaiterState.Queued && !w.HasWorked)
            .Select(static w => w.Sequence).DefaultIfEmpty(long.MaxValue).Min();
        Require(
            !waiting.Any(w => w.State == WaiterState.Assigned && w.Sequence > queued),
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

    /// <summary>A thread stands still for it.</summary>
    internal bool IsParked { get; init; }

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

    /// <summary>An operation of the policy hangs with it.</summary>
    internal bool IsBusy { get; set; }

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

    public override async ValueTask<bool> ResetAsync(ModelResource resource, CancellationToken cancellationToken)
    {
        Schedule.Point("reset");
        if (World.IsAlone)
        {
            await World.OnAnotherThread().ConfigureAwait(false);
        }

        await Hang(resource, cancellationToken).ConfigureAwait(false);
        return resource.Number % 7 != 0;
    }

    public override bool? Reset(ModelResource resource)
    {
        Schedule.Point("reset here");
        World.Expect(resource.Users == 0, "a leased resource is reset");
        HangHere(resource, CancellationToken.None);
        return resource.Number % 3 == 0 && !World.IsAlone ? null : resource.Number % 7 != 0;
    }
}

/// <summary>Makes resources at once, or fails; each end is noted. It has nothing to do when one is returned.</summary>
internal class PlainPolicy(ResourceWorld world, Random random) : ResourcePolicy<ModelResource>
{
    private protected ResourceWorld World => world;

    internal List<ModelResource> Resources { get; } = [];

    internal bool Fails { get; set; }

    internal bool Hangs { get; set; }

    /// <summary>Operations that hang until one of the threads lets them go on.</summary>
    internal List<TaskCompletionSource> Hanging { get; } = [];

    internal long Made { get; private set; }

    /// <summary>Resources up to this number were cleared.</summary>
    internal long Cleared { get; set; }

    public override async ValueTask<ModelResource> CreateAsync(CancellationToken cancellationToken)
    {
        Schedule.Point("create");
        await Hang(null, cancellationToken).ConfigureAwait(false);
        return Make();
    }

    public override ModelResource Create(CancellationToken cancellationToken)
    {
        Schedule.Point("create here");
        HangHere(null, cancellationToken);
        return Make();
    }

    private ModelResource Make()
    {
        if (Fails && random.Next(2) == 0)
        {
            throw new IOException("as asked");
        }

        var resource = new ModelResource(++Made);
        Resources.Add(resource);
        world.LookAtCapacity();
        return resource;
    }

    public override async ValueTask<bool> ValidateAsync(ModelResource resource, CancellationToken cancellationToken)
    {
        Schedule.Point("validate");
        world.Expect(resource.Users == 0, "a resource is validated while it is leased");
        await Hang(resource, cancellationToken).ConfigureAwait(false);
        return resource.Number % 5 != 0;
    }

    public override bool? Validate(ModelResource resource)
    {
        Schedule.Point("validate here");
        world.Expect(resource.Users == 0, "a resource is validated while it is leased");
        HangHere(resource, CancellationToken.None);
        return resource.Number % 3 == 0 ? null : resource.Number % 5 != 0;
    }

    public override async ValueTask KeepAliveAsync(ModelResource resource, CancellationToken cancellationToken)
    {
        Schedule.Point("keep alive");
        world.Expect(resource.Users == 0, "a leased resource is kept alive");
        await Hang(resource, cancellationToken).ConfigureAwait(false);
    }

    public override async ValueTask DestroyAsync(ModelResource resource, DestroyReason reason)
    {
        Schedule.Point("destroy");
        world.Expect(resource.Users == 0, "a leased resource was destroyed");
        world.Expect(++resource.Ends == 1, "a resource was destroyed twice");
        world.Expect(!resource.IsBusy, "a resource was destroyed while the policy works on it");
        await Hang(resource, CancellationToken.None).ConfigureAwait(false);
    }

    /// <summary>Perhaps waits until it is released; half of those that wait listen to their token.</summary>
    private protected async ValueTask Hang(ModelResource? resource, CancellationToken cancellation)
    {
        if (!Hangs || random.Next(2) == 0)
        {
            return;
        }

        TaskCompletionSource hang = new();
        Hanging.Add(hang);
        await using CancellationTokenRegistration stop = random.Next(2) == 0
            ? default
            : cancellation.UnsafeRegister(_ => hang.TrySetCanceled(cancellation), null);
        SetBusy(resource, true);
        try
        {
            await hang.Task.ConfigureAwait(false);
        }
        finally
        {
            SetBusy(resource, false);
        }

        Schedule.Point("hung");
    }

    /// <summary>Perhaps keeps the calling thread until it is released; half of the calls listen to their token.</summary>
    private protected void HangHere(ModelResource? resource, CancellationToken cancellation)
    {
        if (!Hangs || ResourceWorld.IsReleaser || random.Next(2) == 0)
        {
            return;
        }

        TaskCompletionSource hang = new();
        Hanging.Add(hang);
        bool listens = random.Next(2) == 0;
        SetBusy(resource, true);
        while (!hang.Task.IsCompleted && !(listens && cancellation.IsCancellationRequested))
        {
            Schedule.Point("spin");
        }

        SetBusy(resource, false);
        if (!hang.Task.IsCompleted)
        {
            Hanging.Remove(hang);
            throw new OperationCanceledException(cancellation);
        }
    }

    private static void SetBusy(ModelResource? resource, bool isBusy)
    {
        if (resource is not null)
        {
            resource.IsBusy = isBusy;
        }
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
        timer.Change(dueTime, period);
        lock (_timers)
        {
            _timers.Add(timer);
        }

        return timer;
    }

    internal void Advance(int milliseconds)
    {
        long end = _now + milliseconds;
        while (NextDue(end) is { } timer)
        {
            _now = Math.Max(_now, timer.Due);
            timer.Due = long.MaxValue;
            timer.Fire();
        }

        _now = end;
    }

    private ModelTimer? NextDue(long end)
    {
        lock (_timers) // the end of a shutdown, which no strategy schedules, takes its timer away
        {
            return _timers.Where(t => t.Due <= end).MinBy(static t => t.Due);
        }
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

        public void Dispose()
        {
            lock (time._timers)
            {
                time._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }
    }
}
