using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Tracing;

namespace Tidepool;

/// <summary>
/// The event source <c>Tidepool</c>: the events of the runtime's own array pool source, with the requested length added, plus drops and
/// misuse.
/// </summary>
/// <remarks>
/// Rents and returns are written only while a listener enables <see cref="Keywords.Rentals"/> at verbose level: pools then take their
/// slow path, so that an unobserved rental pays nothing. All other events come from slow paths. A listener that passes the argument
/// <c>PoolInterval</c> with <see cref="Keywords.Pools"/> gets the state of every live pool each so many milliseconds, and with
/// <c>PoolShadow</c> also what each missed and dropped by length.
/// </remarks>
[EventSource(Name = "Tidepool")]
internal sealed class TidepoolEventSource : EventSource
{
    /// <summary>
    /// Whether the program has event sources. Programs that are trimmed or compiled ahead of time have none unless they ask for them, and
    /// then leave out what only a listener can reach.
    /// </summary>
    /// <remarks>Set before <see cref="Log"/> is made: a listener that was there first gives its command meanwhile.</remarks>
    [FeatureSwitchDefinition("System.Diagnostics.Tracing.EventSource.IsSupported")]
    internal static bool IsOffered { get; } =
        !AppContext.TryGetSwitch("System.Diagnostics.Tracing.EventSource.IsSupported", out bool isSupported) || isSupported;

    internal static readonly TidepoolEventSource Log = new();

    private TidepoolEventSource()
    {
    }

    /// <summary>Makes the source, if it was not: listeners find it before a pool has something to say.</summary>
    internal static void Announce()
    {
        if (IsOffered)
        {
            GC.KeepAlive(Log);
        }
    }

    /// <summary>Whether some listener is there.</summary>
    internal static bool IsHeard => IsOffered && Log.IsEnabled();

    /// <summary>Raised when <see cref="Rentals"/> turns.</summary>
    internal static event Action? RentalsChanged;

    internal static bool Rentals { get; private set; }

    [Event(1, Level = EventLevel.Verbose, Keywords = Keywords.Rentals)]
    internal void BufferRented(int bufferId, int bufferSize, int poolId, int bucketId, int requestedLength) =>
        WriteEvent(1, [bufferId, bufferSize, poolId, bucketId, requestedLength]);

    [Event(2, Level = EventLevel.Informational)]
    internal void BufferAllocated(int bufferId, int bufferSize, int poolId, int bucketId, int requestedLength) =>
        WriteEvent(2, [bufferId, bufferSize, poolId, bucketId, requestedLength]);

    [Event(3, Level = EventLevel.Verbose, Keywords = Keywords.Rentals)]
    internal void BufferReturned(int bufferId, int bufferSize, int poolId) => WriteEvent(3, bufferId, bufferSize, poolId);

    [Event(4, Level = EventLevel.Informational)]
    internal void BufferTrimmed(long buffers, string pool) => WriteEvent(4, buffers, pool);

    [Event(5, Level = EventLevel.Informational)]
    internal void BufferTrimPoll(int milliseconds, int pressure) => WriteEvent(5, milliseconds, pressure);

    [Event(6, Level = EventLevel.Informational)]
    internal void BufferDropped(int bufferId, int bufferSize, int poolId, int bucketId) =>
        WriteEvent(6, [bufferId, bufferSize, poolId, bucketId]);

    [Event(7, Level = EventLevel.Error)]
    internal void Misuse(string kind, string message, string pool) => WriteEvent(7, kind, message, pool);

    [Event(8, Level = EventLevel.Error)]
    internal void SourceFailed(string exception, string pool) => WriteEvent(8, exception, pool);

    [Event(20, Version = 1, Level = EventLevel.Warning)]
    internal void LeaseOverdue(long resource, long milliseconds, string site, string pool, string key) =>
        WriteEvent(20, [resource, milliseconds, site, pool, key]);

    [Event(21, Version = 1, Level = EventLevel.Informational)]
    internal void LeaseRecovered(long resource, long milliseconds, string pool, string key) =>
        WriteEvent(21, [resource, milliseconds, pool, key]);

    [Event(22, Version = 1, Level = EventLevel.Error)]
    internal void LeaseReclaimed(long resource, string site, string pool, string key) => WriteEvent(22, [resource, site, pool, key]);

    [NonEvent]
    internal void PolicyFailed(string method, Exception failure, string pool, string key)
    {
        if (IsEnabled())
        {
            PolicyFailed(method, FailureText.TextOf(failure), pool, key);
        }
    }

    [Event(23, Version = 1, Level = EventLevel.Error)]
    internal void PolicyFailed(string method, string exception, string pool, string key) => WriteEvent(23, [method, exception, pool, key]);

    [Event(24, Version = 1, Level = EventLevel.Warning)]
    internal void ResourceMarkedBroken(string reason, string pool, string key) => WriteEvent(24, [reason, pool, key]);

    [Event(25, Level = EventLevel.Warning)]
    internal void ResourceReported(string kind, string message, string pool, string key) => WriteEvent(25, [kind, message, pool, key]);

    [Event(30, Level = EventLevel.Warning)]
    internal void PoolerFound(string message, string pool) => WriteEvent(30, message, pool);

    /// <summary>One live pool. A number that its kind has not is -1; counts are since the pool was made.</summary>
    /// <remarks>Passes at every level, so that one who asks for pools does not get each allocation and drop with them.</remarks>
    [Event(40, Version = 1, Level = EventLevel.LogAlways, Keywords = Keywords.Pools)]
    internal void PoolDescribed(
        string pool,
        string kind,
        long rented,
        long returned,
        long missed,
        long dropped,
        long idle,
        long leased,
        long bytesIdle,
        long bytesLeased,
        long misuses,
        long failed,
        int waiting,
        int maxSize,
        long oldestMilliseconds,
        string oldestSite,
        long trimmed,
        long refused,
        long budgetBytes,
        string misuseKinds,
        int poolId,
        int elementBytes) =>
        WriteEvent(
            40,
            [
                pool, kind, rented, returned, missed, dropped, idle, leased, bytesIdle, bytesLeased, misuses, failed, waiting, maxSize,
                oldestMilliseconds, oldestSite, trimmed, refused, budgetBytes, misuseKinds, poolId, elementBytes,
            ]);

    /// <summary>The events before this one are all live pools of this moment.</summary>
    [Event(41, Level = EventLevel.LogAlways, Keywords = Keywords.Pools)]
    internal void PoolsDescribed(int pools) => WriteEvent(41, pools);

    /// <summary>
    /// One length of a pool's shadow; see <see cref="ShadowClass"/>. Commas stand between the numbers of <paramref name="served"/>.
    /// </summary>
    [Event(42, Level = EventLevel.LogAlways, Keywords = Keywords.Pools)]
    internal void PoolClassDescribed(string pool, int length, long itemBytes, bool isKept, long missed, long dropped, string served) =>
        WriteEvent(42, [pool, length, itemBytes, isKept, missed, dropped, served]);

    protected override void OnEventCommand(EventCommandEventArgs command)
    {
        if (!IsOffered)
        {
            return;
        }

        bool pools = IsEnabled(EventLevel.LogAlways, Keywords.Pools);
        if (!pools || PoolPublisher.IntervalOf(command.Arguments) is not null)
        {
            PoolPublisher.Change(pools ? PoolPublisher.IntervalOf(command.Arguments) : null);
            PoolShadow.Switch(pools && PoolPublisher.WantsShadows(command.Arguments));
        }

        bool rentals = IsEnabled(EventLevel.Verbose, Keywords.Rentals);
        if (rentals != Rentals)
        {
            Rentals = rentals;
            RentalsChanged?.Invoke();
        }
    }

    /// <summary>Public, or the event source does not find it.</summary>
    public static class Keywords
    {
        public const EventKeywords Rentals = (EventKeywords)1;
        public const EventKeywords Pools = (EventKeywords)2;
    }
}
