using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <summary>
/// One of many leases of a resource that its renters use at the same time, such as an HTTP handler or a multiplexed connection. The
/// resource goes back to its pool, or ends when it is due, with the last of them.
/// </summary>
/// <typeparam name="T">The resource.</typeparam>
/// <remarks>Copies are the same lease. Thread-safe. A shared rental allocates one small object.</remarks>
[DebuggerDisplay("active: {IsActive}")]
public readonly struct SharedLease<T> : IDisposable, IEquatable<SharedLease<T>>
    where T : class
{
    private readonly SharedTicket<T>? _ticket;

    internal SharedLease(SharedTicket<T> ticket) => _ticket = ticket;

    /// <summary>Whether this lease is still out.</summary>
    public bool IsActive => _ticket?.Value is not null;

    /// <summary>The resource. Others use it too.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public T Value
    {
        get
        {
            SharedTicket<T>? ticket = _ticket;
            return ticket?.Value ?? Refuse(ticket);
        }
    }

    /// <summary>Says that the resource is broken: there are no new leases of it, and it ends with the last one.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed, or is <c>default</c>.</exception>
    public void MarkBroken()
    {
        SharedTicket<T>? ticket = _ticket;
        if (ticket is null || !ticket.TryMark())
        {
            Refuse(ticket);
        }
    }

    /// <summary>Ends this lease; a second time does nothing.</summary>
    public void Dispose() => _ticket?.Dispose();

    /// <inheritdoc/>
    public bool Equals(SharedLease<T> other) => ReferenceEquals(_ticket, other._ticket);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is SharedLease<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _ticket?.GetHashCode() ?? 0;

    /// <summary>Whether both are the same lease.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator ==(SharedLease<T> left, SharedLease<T> right) => left.Equals(right);

    /// <summary>Whether they are different leases.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator !=(SharedLease<T> left, SharedLease<T> right) => !left.Equals(right);

    [DoesNotReturn]
    private static T Refuse(SharedTicket<T>? ticket) => throw new ObjectDisposedException(
        $"SharedLease<{typeof(T).Name}>",
        ticket is null
            ? MisuseText.NeverRented(nameof(SharedLease<T>))
            : "The lease was already disposed. Use its value before that.");
}
