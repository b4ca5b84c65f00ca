namespace Tidepool.Data;

/// <summary>
/// What the statements of a renter may have left on its session. Each value includes the ones before it.
/// </summary>
internal enum SessionResidue
{
    /// <summary>Nothing that another renter could see.</summary>
    Nothing,

    /// <summary>What the session remembers of the last change: how many rows, and which row.</summary>
    Rows,

    /// <summary>Transactions, temporary objects, attached databases.</summary>
    Objects,

    /// <summary>All that a session can hold; also where nothing is known.</summary>
    Anything,
}
