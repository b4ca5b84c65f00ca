using System.Data.Common;

namespace Tidepool.Data;

/// <summary>One open connection of the provider, as the pool holds it. Used by one renter at a time, and by the pool in between.</summary>
internal sealed class DbSession(DbConnection native)
{
    private volatile bool _isBroken;

    /// <summary>A change of the connection's state is noticed.</summary>
    private bool _isWatched;

    /// <summary>
    /// What <see cref="Residue"/> says, as flags that are only ever set: of two threads that set them, none undoes what the other has
    /// noted.
    /// </summary>
    private volatile bool _hasRows;
    private volatile bool _hasObjects;
    private volatile bool _hasAnything;

    internal DbConnection Native { get; } = native;

    /// <summary>An error has said that it must not be rented again.</summary>
    internal bool IsBroken => _isBroken;

    /// <summary>The pool's generation when its creation began.</summary>
    internal int Generation { get; init; }

    /// <summary>
    /// A write was refused on it, by a server that only reads or in a transaction that its renter wanted so: the reset asks.
    /// </summary>
    internal bool IsRoleDoubted { get; set; }

    /// <summary>The provider has prepared statements on it; stays so for its life.</summary>
    internal bool HasPrepared { get; set; }

    /// <summary>Its reset goes with the next statement.</summary>
    internal bool HasResetPending { get; set; }

    /// <summary>Its renter had the provider's connection; until the next reset. Whatever it prepared stays.</summary>
    internal bool WasLent { get; set; }

    /// <summary>Its renter had the provider's connection, and the pool has not looked yet at what became of the types.</summary>
    internal bool IsLent { get; set; }

    /// <summary>What the provider knew of the database's types when it was new; null where that cannot be seen.</summary>
    internal object? Types { get; init; }

    /// <summary>What the adapter noted when it was new.</summary>
    internal object? Remembered { get; init; }

    /// <summary>What has made the provider's connection ready for a library that needs that, once for the life of the session.</summary>
    internal object? PreparedBy { get; set; }

    /// <summary>What its renter may have left.</summary>
    internal SessionResidue Residue =>
        _hasAnything ? SessionResidue.Anything
        : _hasObjects ? SessionResidue.Objects
        : _hasRows ? SessionResidue.Rows
        : SessionResidue.Nothing;

    internal DbSessionInfo Info => new(HasPrepared, WasLent, Remembered) { Residue = Residue };

    /// <summary>It was closed in the middle of an operation, whose failure says nothing of the server.</summary>
    internal bool IsGivenUp { get; private set; }

    internal void Break() => _isBroken = true;

    internal void GiveUp()
    {
        IsGivenUp = true;
        _isBroken = true;
    }

    /// <summary>
    /// Its renter gets the provider's connection. One that closes it, and may open it again, has another session of the server: nothing
    /// that was noted of this one holds for that.
    /// </summary>
    internal void Lend()
    {
        IsLent = WasLent = HasPrepared = true;
        if (!_isWatched)
        {
            _isWatched = true;
            Native.StateChange += (_, _) => Break();
        }
    }

    /// <summary>Its renter is about to leave this; until the next reset.</summary>
    internal void Leave(SessionResidue residue)
    {
        switch (residue)
        {
            case SessionResidue.Nothing:
                break;
            case SessionResidue.Rows:
                _hasRows = true;
                break;
            case SessionResidue.Objects:
                _hasObjects = true;
                break;
            default:
                _hasAnything = true;
                break;
        }
    }

    /// <summary>
    /// It was reset: nothing of a renter is left. A reset that goes with the next statement counts, too: while one is pending, the next
    /// return resets in the usual way whatever these flags say.
    /// </summary>
    internal void Renew() => WasLent = IsRoleDoubted = _hasRows = _hasObjects = _hasAnything = false;
}
