using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A rented stream whose object is used again. Dispose or <see cref="Return"/> it once, on any thread; <c>using</c> does so.
/// </summary>
/// <remarks>
/// <para>A lease is a small value. Copies are the same rental, and whichever copy is returned first retires all of them: later uses
/// throw, a later <see cref="Dispose"/> does nothing. No two leases of a process have the same ticket, so neither an old copy nor a torn
/// one ends the stream of another renter.</para>
/// <para>Only the lease ends the stream: disposing or closing <see cref="Stream"/> does nothing, so it can be given to code that closes
/// what it gets. Once the lease has ended, the stream object throws <see cref="ObjectDisposedException"/> until it serves another lease,
/// which is after at least seven other streams were returned on the thread that returned it. A reference to it that is kept longer cannot
/// be told from the new renter's: ask <see cref="Stream"/>, which always can.</para>
/// <para>Thread safety: one thread at a time, as with <see cref="MemoryStream"/>; of racing returns one counts.</para>
/// <para>Cost: no allocation; a return is one compare-and-swap.</para>
/// </remarks>
[DebuggerDisplay("active: {IsActive}")]
public readonly struct StreamLease : IDisposable, IEquatable<StreamLease>
{
    // Every member reads each field once, by one load: another thread may be replacing the lease where it lies.
    private readonly StreamCore? _core;
    private readonly long _ticket;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal StreamLease(StreamCore core, long ticket)
    {
        _core = core;
        _ticket = ticket;
    }

    /// <summary>Whether the rental is still out. False for <c>default</c>.</summary>
    public bool IsActive => _core is { } core && Volatile.Read(ref core.Ticket) == _ticket;

    /// <summary>The rented stream.</summary>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public PooledMemoryStream Stream
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            StreamCore? core = _core;
            if (core is null || Volatile.Read(ref core.Ticket) != _ticket)
            {
                Refuse(core);
            }

            return core.LeasedStream!;
        }
    }

    /// <summary>Whether two leases are copies of one rental.</summary>
    public static bool operator ==(StreamLease left, StreamLease right) => left.Equals(right);

    /// <summary>Whether two leases are different rentals.</summary>
    public static bool operator !=(StreamLease left, StreamLease right) => !left.Equals(right);

    /// <summary>Ends the rental: all memory of the stream is returned, and its object waits for its next renter.</summary>
    /// <exception cref="PoolMisuseException">The rental had ended before (not with checks off: then this is only counted).</exception>
    /// <exception cref="ObjectDisposedException">The lease is <c>default</c>.</exception>
    /// <exception cref="InvalidOperationException">A pool of the caller failed to take a segment back; all others were
    /// returned.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Return()
    {
        StreamCore? core = _core;
        if (core is null || !PooledMemoryStream.TryEnd(core, _ticket))
        {
            OnRetired(core, MisuseKind.DoubleReturn);
        }
    }

    /// <summary>Ends the rental; does nothing when it has ended before (which is counted) or the lease is <c>default</c>.</summary>
    /// <exception cref="InvalidOperationException">A pool of the caller failed to take a segment back; all others were
    /// returned.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose()
    {
        StreamCore? core = _core;
        if (core is null || !PooledMemoryStream.TryEnd(core, _ticket))
        {
            OnRetired(core, MisuseKind.StaleDispose);
        }
    }

    /// <inheritdoc/>
    public bool Equals(StreamLease other) => _core == other._core && _ticket == other._ticket;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is StreamLease other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _ticket.GetHashCode();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void OnRetired(StreamCore? core, MisuseKind kind)
    {
        if (core is null)
        {
            if (kind == MisuseKind.DoubleReturn)
            {
                Refuse(null);
            }
        }
        else
        {
            StreamPool.Instance.OnRetired(core, kind);
        }
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Refuse([NotNull] StreamCore? core)
    {
        if (core is not null)
        {
            StreamPool.Instance.OnRetired(core, MisuseKind.UseAfterReturn);
        }

        throw new ObjectDisposedException(nameof(StreamLease), MisuseText.NeverRented(nameof(StreamLease)));
    }
}
