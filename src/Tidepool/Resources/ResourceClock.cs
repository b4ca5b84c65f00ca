namespace Tidepool;

/// <summary>The pool's clock in milliseconds: monotonic, so a clock of the wall that jumps changes nothing.</summary>
internal sealed class ResourceClock(TimeProvider provider)
{
    private readonly bool _isSystem = ReferenceEquals(provider, TimeProvider.System);
    private readonly long _start = provider.GetTimestamp();

    internal TimeProvider Provider => provider;

    /// <summary>Whether real time passes, so that a thread may wait by itself.</summary>
    internal bool IsSystem => _isSystem;

    internal long Now => _isSystem ? Environment.TickCount64 : (long)provider.GetElapsedTime(_start).TotalMilliseconds;
}
