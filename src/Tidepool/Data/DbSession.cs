using System.Data.Common;

namespace Tidepool.Data;

/// <summary>One open connection of the provider, as the pool holds it. Used by one renter at a time, and by the pool in between.</summary>
internal sealed class DbSession(DbConnection native)
{
    private volatile bool _isBroken;

    internal DbConnection Native { get; } = native;

    /// <summary>An error has said that it must not be rented again.</summary>
    internal bool IsBroken => _isBroken;

    /// <summary>Its place in the pool, known since its first rental.</summary>
    internal ResourceSlot<DbSession>? Slot { get; set; }

    /// <summary>The provider has prepared statements on it; stays so for its life.</summary>
    internal bool HasPrepared { get; set; }

    /// <summary>Its renter had the provider's connection; until the next reset. Whatever it prepared stays.</summary>
    internal bool WasLent { get; set; }

    /// <summary>What the adapter noted when it was new.</summary>
    internal object? Remembered { get; init; }

    internal DbSessionInfo Info => new(HasPrepared, WasLent, Remembered);

    /// <summary>It was closed in the middle of an operation, whose failure says nothing of the server.</summary>
    internal bool IsGivenUp { get; private set; }

    internal void Break() => _isBroken = true;

    internal void GiveUp()
    {
        IsGivenUp = true;
        _isBroken = true;
    }

    internal void Lend() => WasLent = HasPrepared = true;
}
