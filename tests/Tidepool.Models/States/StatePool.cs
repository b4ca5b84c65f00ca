namespace Tidepool.Models.States;

/// <summary>
/// What the worlds of one exploration share: the pool behind their states, a clock that stands, and the threads that were asked for.
/// </summary>
internal sealed class StatePool
{
    private readonly ResourceSettings _settings;
    private readonly StandingClock _clock = new();
    private readonly Policy _policy = new();
    private readonly int _slots;

    internal StatePool(Bounds bounds)
    {
        _slots = bounds.Slots;
        var options = new ResourcePoolOptions
        {
            Name = "state",
            MaxSize = bounds.Slots,
            MinSize = bounds.KeepsWarm ? 1 : 0,
            MaxCreateConcurrency = 2,
            ValidateAfterIdle = bounds.Validates ? TimeSpan.Zero : Timeout.InfiniteTimeSpan,
            IdleTimeout = bounds.Expires ? TimeSpan.FromMilliseconds(100) : Timeout.InfiniteTimeSpan,
            MaxLifetime = bounds.Expires ? TimeSpan.FromMilliseconds(250) : Timeout.InfiniteTimeSpan,
            LifetimeJitter = 0,
            CreateTimeout = bounds.Ticks > 0 ? TimeSpan.FromMilliseconds(150) : Timeout.InfiniteTimeSpan,
            PolicyTimeout = bounds.Ticks > 0 ? TimeSpan.FromMilliseconds(150) : Timeout.InfiniteTimeSpan,
            RentTimeout = Timeout.InfiniteTimeSpan,
            TimeProvider = _clock,
            NextRandom = static () => 0,
            Executor = _ => Asked++,
        };
        _settings = new ResourceSettings(options);

        // A check that begins on its renter's thread asks this policy, which does not answer.
        Core = new ResourceCore<object>(_policy, new ResourceSettings(options with { ValidateAfterIdle = TimeSpan.Zero }));
    }

    internal ResourceCore<object> Core { get; }

    /// <summary>Threads that were asked for and have not come.</summary>
    internal int Asked { get; set; }

    internal long Due => Core.Timer.Due;

    internal long Now => _clock.Now;

    /// <summary>Makes the state of a new pool, at the beginning of time.</summary>
    internal PoolState<object> Begin()
    {
        using PoolSection<object> section = Core.Gate.Enter();
        section.TimerFired();
        section.CountWaiting(-section.Waiting);
        _clock.Now = 1000;
        Asked = 0;
        return new PoolState<object>(Core, _settings, _policy.Traits, ResetMode.None, _slots, null);
    }

    internal void MoveToDue() => _clock.Now = Math.Max(_clock.Now, Due);

    /// <summary>Nothing calls it but a check that begins on its renter's thread, which never answers.</summary>
    private sealed class Policy : ResourcePolicy<object>
    {
        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public override object Create(CancellationToken cancellationToken) => throw new NotSupportedException();

        public override ValueTask<bool> ValidateAsync(object resource, CancellationToken cancellationToken) =>
            new(new TaskCompletionSource<bool>().Task);

        public override bool? Validate(object resource) => throw new NotSupportedException();
    }

    /// <summary>A clock that stands until it is set, and timers that never fire.</summary>
    private sealed class StandingClock : TimeProvider
    {
        internal long Now { get; set; }

        public override long TimestampFrequency => 1000;

        public override long GetTimestamp() => Now;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) => new NoTimer();
    }

    private sealed class NoTimer : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period) => true;

        public void Dispose()
        {
        }

        public ValueTask DisposeAsync() => default;
    }
}
