namespace Tidepool;

/// <summary>Ends the magazine of a thread handle: when the handle is disposed, and by its finalizer when the handle was dropped.</summary>
/// <remarks>The magazine refers to it, so it dies when neither the handle nor a lease of the handle can be reached any more.</remarks>
internal sealed class HandleStock(Magazine magazine, Shard shard) : IDisposable
{
    private int _isClosed;

    ~HandleStock()
    {
        if (!Environment.HasShutdownStarted)
        {
            Dispose();
        }
    }

    /// <summary>Gives the charge back to the budget, and the stock to the shared tier. A second call does nothing.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isClosed, 1) != 0)
        {
            return;
        }

        GC.SuppressFinalize(this);
        var items = new List<object?>();
        magazine.Close(items);
        foreach (object? item in items)
        {
            if (item is Slot idle)
            {
                idle.State.Generation += 2; // a record that has seen it dead in this stock must see that it lives on
            }
        }

        ThreadTier.CloseHandle(shard);
        magazine.Bucket.Pool.Budget.Refund(magazine.Charge);
        Magazine.PutShared(magazine.Bucket, items);
    }
}
