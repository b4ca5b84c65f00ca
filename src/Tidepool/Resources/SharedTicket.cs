namespace Tidepool;

/// <summary>One renter's part of a shared resource; retired once.</summary>
internal sealed class SharedTicket<T>(SharedResource<T> shared)
    where T : class
{
    private SharedResource<T>? _shared = shared;

    internal T? Value => Volatile.Read(ref _shared)?.Value;

    internal bool TryMark()
    {
        if (Volatile.Read(ref _shared) is not { } shared)
        {
            return false;
        }

        shared.Mark();
        return true;
    }

    internal void Dispose()
    {
        Schedule.Point("shared: end");
        Interlocked.Exchange(ref _shared, null)?.Leave();
    }
}
