namespace Tidepool.Advice;

/// <summary>How the user wants to see the pools.</summary>
internal sealed record WatchView
{
    private static readonly PoolOrder[] Orders = Enum.GetValues<PoolOrder>();

    /// <summary>The order of the pools.</summary>
    public PoolOrder Order { get; init; }

    /// <summary>Only rows whose name has this in it; empty for all.</summary>
    public string Filter { get; init; } = "";

    /// <summary>Whether keys go to the filter.</summary>
    public bool IsTyping { get; init; }

    /// <summary>The next order.</summary>
    public WatchView Turn() => this with { Order = Orders[((int)Order + 1) % Orders.Length] };

    /// <summary>The pools that are wanted, in the order that is wanted.</summary>
    public IReadOnlyList<PoolRow> Apply(IEnumerable<PoolRow> pools)
    {
        var wanted = pools.Where(pool => IsWanted(pool.Name));
        return
        [
            .. Order switch
            {
                PoolOrder.Rented => wanted.OrderByDescending(static pool => pool.RentedPerSecond ?? -1),
                PoolOrder.HitRate => wanted.OrderBy(static pool => pool.HitRate ?? 2),
                PoolOrder.Idle => wanted.OrderByDescending(static pool => pool.Idle),
                PoolOrder.Leased => wanted.OrderByDescending(static pool => pool.Leased),
                PoolOrder.Misuse => wanted.OrderByDescending(static pool => pool.Misuses),
                PoolOrder.Waiting => wanted.OrderByDescending(static pool => pool.Waiting ?? -1),
                PoolOrder.Oldest => wanted.OrderByDescending(static pool => pool.OldestMilliseconds ?? -1),
                _ => wanted.OrderBy(static pool => pool.Name, StringComparer.Ordinal),
            },
        ];
    }

    /// <summary>The other pools that are wanted, in that order too; by name where no meter counts what it asks for.</summary>
    public IReadOnlyList<MeteredRow> Apply(IEnumerable<MeteredRow> rows)
    {
        var wanted = rows.Where(row => IsWanted(row.Name)).OrderBy(static row => row.Name, StringComparer.Ordinal);
        return
        [
            .. Order switch
            {
                PoolOrder.Rented => wanted.OrderByDescending(static row => row.PerSecond ?? -1),
                PoolOrder.Idle => wanted.OrderByDescending(static row => row.Idle ?? -1),
                PoolOrder.Leased => wanted.OrderByDescending(static row => row.Used ?? -1),
                PoolOrder.Waiting => wanted.OrderByDescending(static row => row.Waiting ?? -1),
                _ => wanted,
            },
        ];
    }

    /// <summary>What a key does to the view.</summary>
    public WatchView Press(ConsoleKeyInfo key)
    {
        if (!IsTyping)
        {
            return key.KeyChar switch
            {
                's' => Turn(),
                'f' or '/' => this with { IsTyping = true },
                _ => this,
            };
        }

        return key.Key switch
        {
            ConsoleKey.Enter => this with { IsTyping = false },
            ConsoleKey.Escape => this with { IsTyping = false, Filter = "" },
            ConsoleKey.Backspace => this with { Filter = Filter.Length == 0 ? "" : Filter[..^1] },
            _ => char.IsControl(key.KeyChar) ? this : this with { Filter = Filter + key.KeyChar },
        };
    }

    private bool IsWanted(string name) => name.Contains(Filter, StringComparison.OrdinalIgnoreCase);
}

/// <summary>The orders of the table of pools.</summary>
internal enum PoolOrder
{
    /// <summary>The busiest first.</summary>
    Rented,

    /// <summary>The lowest hit rate first.</summary>
    HitRate,

    /// <summary>Most idle items first.</summary>
    Idle,

    /// <summary>Most leases first.</summary>
    Leased,

    /// <summary>Most misuse first.</summary>
    Misuse,

    /// <summary>Most waiting callers first.</summary>
    Waiting,

    /// <summary>The oldest lease first.</summary>
    Oldest,

    /// <summary>By name.</summary>
    Name,
}
