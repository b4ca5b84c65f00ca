namespace Tidepool.Data;

/// <summary>What a pool knows of a session when it resets it.</summary>
/// <param name="HasPrepared">The provider keeps prepared statements on it, of which it believes that they exist: they must survive.</param>
/// <param name="WasLent">A renter had the provider's own connection, so that anything may have happened with it.</param>
/// <param name="Remembered">What <see cref="DbAdapter.Remember"/> noted when it was new.</param>
public readonly record struct DbSessionInfo(bool HasPrepared, bool WasLent, object? Remembered)
{
    /// <summary>What its renter may have left; null when it was not examined.</summary>
    internal SessionResidue? Residue { get; init; }

    /// <summary>How many seconds a statement of its reset may take; 0 leaves that to the connection.</summary>
    internal int TimeLimit { get; init; }
}
