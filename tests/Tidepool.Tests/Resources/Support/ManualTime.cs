namespace Tidepool.Tests.Resources.Support;

/// <summary>
/// A clock that stands still until the test moves it. Timers fire on the thread that moves it, in the order in which they are due.
/// </summary>
public sealed class ManualTime : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _timers = [];
    private TimeSpan _now;

    /// <summary>What the clock of the wall shows; may jump.</summary>
    public DateTimeOffset Wall { get; set; } = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>Timers that were not disposed.</summary>
    public int Timers
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count;
            }
        }
    }

    /// <summary>Milliseconds until the next timer fires; <see cref="double.PositiveInfinity"/> when none is set.</summary>
    public double UntilNext
    {
        get
        {
            lock (_gate)
            {
                return _timers.Min(static t => t.Due) is { } due ? (due - _now).TotalMilliseconds : double.PositiveInfinity;
            }
        }
    }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>How often the clock was read.</summary>
    public int Reads { get; private set; }

    public override long GetTimestamp()
    {
        lock (_gate)
        {
            Reads++;
            return _now.Ticks;
        }
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
        {
            return Wall + _now;
        }
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        lock (_gate)
        {
            _timers.Add(timer);
        }

        timer.Change(dueTime, period);
        return timer;
    }

    public void Advance(double milliseconds) => Advance(TimeSpan.FromMilliseconds(milliseconds));

    /// <summary>Time passes in which no timer fires; those that are due then are late.</summary>
    public void Starve(double milliseconds)
    {
        lock (_gate)
        {
            _now += TimeSpan.FromMilliseconds(milliseconds);
        }
    }

    public void Advance(TimeSpan time)
    {
        TimeSpan end;
        lock (_gate)
        {
            end = _now + time;
        }

        while (TakeDue(end) is { } timer)
        {
            timer.Fire();
        }

        lock (_gate)
        {
            _now = end > _now ? end : _now;
        }
    }

    private ManualTimer? TakeDue(TimeSpan end)
    {
        lock (_gate)
        {
            ManualTimer? next = _timers.Where(t => t.Due <= end).MinBy(static t => t.Due);
            if (next is null)
            {
                return null;
            }

            _now = next.Due!.Value > _now ? next.Due.Value : _now;
            next.Due = null;
            return next;
        }
    }

    private sealed class ManualTimer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        internal TimeSpan? Due { get; set; }

        internal void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._gate)
            {
                Due = dueTime == Timeout.InfiniteTimeSpan || !time._timers.Contains(this) ? null : time._now + dueTime;
                return true;
            }
        }

        public void Dispose()
        {
            lock (time._gate)
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
