namespace Tidepool;

/// <summary>
/// What a shared tier holds, and what it has served one item at a time: those rentals and returns are counted under its lock, and in no
/// magazine.
/// </summary>
internal struct SharedCounts
{
    internal long Idle;
    internal long Rented;
    internal long Returned;
}
