using System.Data.Common;
using System.Diagnostics;

namespace Tidepool.Data;

/// <summary>
/// The provider's own open connection, rented: for libraries that accept no other, such as Entity Framework Core's providers. Dispose the
/// lease, not the connection: one that was closed is not rented again.
/// </summary>
/// <remarks>
/// A small value; copies are the same rental, and whichever is disposed first ends it. The session is reset as after a pooled connection
/// (one of SQLite is closed, because nothing tells what was done with it), but the pool sees no errors that happen on it: tell it with
/// <see cref="MarkBroken"/>. Remove what you have added to the connection's events.
/// </remarks>
[DebuggerDisplay("active: {IsActive}")]
public readonly struct DbConnectionLease : IDisposable, IAsyncDisposable, IEquatable<DbConnectionLease>
{
    private readonly ResourceLease<DbSession> _lease;

    internal DbConnectionLease(ResourceLease<DbSession> lease) => _lease = lease;

    /// <summary>Whether the rental is still out. False for <c>default</c>.</summary>
    public bool IsActive => _lease.IsActive;

    /// <summary>The provider's connection, open.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public DbConnection Connection => SessionOf(_lease).Native;

    /// <summary>What the pool knows of the session.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public ResourceLeaseInfo Info
    {
        get
        {
            ResourceLease<DbSession> lease = _lease;
            return lease.TryGetInfo(out ResourceLeaseInfo info) ? info : throw Refusal(lease);
        }
    }

    /// <summary>The provider's connection by its own type.</summary>
    /// <typeparam name="TConnection">The type, such as <c>NpgsqlConnection</c>.</typeparam>
    /// <exception cref="InvalidCastException">The connection has another type; the message names both.</exception>
    /// <exception cref="ObjectDisposedException">The lease was disposed, or is <c>default</c>.</exception>
    public TConnection Unwrap<TConnection>()
        where TConnection : DbConnection => PooledDbConnection.Cast<TConnection>(Connection);

    /// <summary>
    /// Says that the session must not be rented again. An error of the database is read as those of pooled connections are: when it says
    /// that the server has gone, the other sessions of this time are made anew too.
    /// </summary>
    /// <param name="error">What happened; may be null.</param>
    /// <exception cref="ObjectDisposedException">The lease was disposed, or is <c>default</c>.</exception>
    public void MarkBroken(Exception? error = null)
    {
        ResourceLease<DbSession> lease = _lease; // copied: another thread may be replacing it where it lies
        DbSession session = SessionOf(lease);
        lease.MarkBroken(error);
        if (error is not null)
        {
            ((DbSessionPolicy)lease.Slot!.Core.Policy).Note(session, error, isLast: true);
        }
    }

    /// <summary>Returns the session. A lease that is over, or <c>default</c>, does nothing.</summary>
    public void Dispose() => _lease.Dispose();

    /// <summary>Returns the session, and waits for the reset where the pool resets on return.</summary>
    public ValueTask DisposeAsync() => _lease.DisposeAsync();

    private static DbSession SessionOf(ResourceLease<DbSession> lease) =>
        lease.TryGetValue(out DbSession? session) ? session : throw Refusal(lease);

    private static ObjectDisposedException Refusal(ResourceLease<DbSession> lease) => new(
        nameof(DbConnectionLease),
        lease == default
            ? MisuseText.NeverRented(nameof(DbConnectionLease))
            : "The lease was already disposed. Use its connection before that.");

    /// <inheritdoc/>
    public bool Equals(DbConnectionLease other) => _lease.Equals(other._lease);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is DbConnectionLease other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _lease.GetHashCode();

    /// <summary>Whether both are the same rental.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator ==(DbConnectionLease left, DbConnectionLease right) => left.Equals(right);

    /// <summary>Whether they are different rentals.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator !=(DbConnectionLease left, DbConnectionLease right) => !left.Equals(right);
}
