namespace Tidepool.Advice;

/// <summary>Counts the events of <c>ArrayPool</c> in one window. Knows no session or clock; not thread-safe.</summary>
internal sealed class ArrayPoolCounter
{
    private const int MostLengths = 5;

    private readonly Dictionary<int, long> _lengths = [];
    private readonly HashSet<int> _pools = [];
    private long _rented;
    private long _returned;
    private long _allocated;
    private long _dropped;

    /// <summary>Adds an event.</summary>
    /// <param name="id">Its number: 1 rented, 2 allocated, 3 returned, 6 dropped; others are left out.</param>
    /// <param name="length">The length of the array, in elements.</param>
    /// <param name="pool">The number of the pool.</param>
    public void Add(int id, int length, int pool)
    {
        switch (id)
        {
            case 1:
                _rented++;
                _pools.Add(pool);
                _lengths[length] = _lengths.GetValueOrDefault(length) + 1;
                break;
            case 2:
                _allocated++;
                break;
            case 3:
                _returned++;
                _pools.Add(pool);
                break;
            case 6:
                _dropped++;
                break;
        }
    }

    /// <summary>The window that has closed.</summary>
    /// <param name="seconds">Its length.</param>
    /// <param name="before">Processors that were busy before it.</param>
    /// <param name="within">Processors that were busy in it.</param>
    /// <param name="lost">Events that were lost in it.</param>
    public ArrayPoolWindow Close(double seconds, double? before, double? within, long lost) => new()
    {
        Seconds = seconds,
        RentedPerSecond = _rented / seconds,
        ReturnedPerSecond = _returned / seconds,
        AllocatedPerSecond = _allocated / seconds,
        DroppedPerSecond = _dropped / seconds,
        Pools = _pools.Count,
        Lengths =
        [
            .. _lengths.OrderByDescending(static length => length.Value).ThenBy(static length => length.Key).Take(MostLengths)
                .Select(length => new LengthCount(length.Key, length.Value / seconds)),
        ],
        ProcessorsBefore = before,
        ProcessorsWithin = within,
        LostEvents = lost,
    };
}
