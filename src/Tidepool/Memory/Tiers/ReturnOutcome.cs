namespace Tidepool;

/// <summary>What came of a return.</summary>
internal enum ReturnOutcome
{
    /// <summary>The rental has ended.</summary>
    Returned,

    /// <summary>The ticket was retired before.</summary>
    Retired,

    /// <summary>The home magazine is closed, or the slot must be posted: the way of other threads must be taken.</summary>
    Closed,
}
