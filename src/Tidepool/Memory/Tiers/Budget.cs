namespace Tidepool;

/// <summary>
/// A limit of idle bytes. A pool without a limit of its own shares the one of the process; one with its own is charged to both.
/// Thread-safe: one interlocked add per charge, and charges happen once per chunk or magazine, never per rental.
/// </summary>
internal sealed class Budget
{
    private readonly Budget? _parent;
    private long _used;

    internal Budget(long limit, Budget? parent)
    {
        Limit = limit;
        _parent = parent;
    }

    /// <summary>
    /// A quarter of the memory that the garbage collector may use (the container's limit where there is one). Nothing with
    /// <c>TIDEPOOL_MODE=off</c>: every budget is charged to this one, so no tier of any pool keeps an item then.
    /// </summary>
    internal static Budget Process { get; } = new(ProcessMode.IsOff ? 0 : GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, null);

    internal long Limit { get; }

    internal long Used => Volatile.Read(ref _used);

    /// <summary>Takes <paramref name="bytes"/> from what is left.</summary>
    /// <returns>False when they do not fit; nothing is charged then.</returns>
    internal bool TryCharge(long bytes)
    {
        // A look first: where nothing fits, which may be so for each return, a refusal takes no locked instruction.
        if (Used + bytes > Limit)
        {
            return false;
        }

        if (Interlocked.Add(ref _used, bytes) > Limit || (_parent is not null && !_parent.TryCharge(bytes)))
        {
            Interlocked.Add(ref _used, -bytes);
            return false;
        }

        return true;
    }

    /// <summary>Whether no more than half of everything would be charged with these bytes: then room may be reserved ahead.</summary>
    internal bool IsAmple(long bytes) => Used + bytes <= Limit / 2 && (_parent is null || _parent.IsAmple(bytes));

    /// <summary>The bytes that are left.</summary>
    internal long Left => Math.Min(Limit - Used, _parent?.Left ?? long.MaxValue);

    internal void Refund(long bytes)
    {
        Interlocked.Add(ref _used, -bytes);
        _parent?.Refund(bytes);
    }

    /// <summary>Never less than nothing is charged.</summary>
    internal bool IsValid() => Used >= 0 && (_parent is null || _parent.IsValid());
}
