namespace Tidepool.Data.Tests.Support;

/// <summary>A clock that stands still: nothing that a pool does after a time happens.</summary>
internal sealed class StoppedTime : TimeProvider
{
    public override long GetTimestamp() => 0;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) => new NoTimer();

    private sealed class NoTimer : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period) => true;

        public void Dispose()
        {
        }

        public ValueTask DisposeAsync() => default;
    }
}
