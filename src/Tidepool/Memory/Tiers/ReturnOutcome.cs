namespace Tidepool;

/// <summary>What came of a return.</summary>
internal enum ReturnOutcome
{
    /// <summary>The rental has ended.</summary>
    Returned,

    /// <summary>It had ended before: the ticket was retired, or an item without one lies idle.</summary>
    Retired,

    /// <summary>Not here: the home magazine is closed, the slot must be posted, or the budget of the shared tier has no room.</summary>
    Closed,
}
