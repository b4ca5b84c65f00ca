namespace Tidepool;

/// <summary>The pool behind a thread handle.</summary>
internal interface IHandleSource<T>
{
    /// <summary>An idle slot whose home is <paramref name="magazine"/>; more may be put in with it.</summary>
    BufferSlot<T> Refill(Magazine magazine);

    /// <summary>Takes back what <paramref name="magazine"/> holds and closes it.</summary>
    void Close(Magazine magazine);
}
