using System.Diagnostics;

namespace Tidepool;

/// <summary>A rented resource of a keyed pool, with its key. Otherwise like <see cref="ResourceLease{T}"/>.</summary>
/// <typeparam name="TKey">The key.</typeparam>
/// <typeparam name="T">The resource.</typeparam>
[DebuggerDisplay("{Key}, active: {IsActive}")]
public readonly struct KeyedResourceLease<TKey, T> : IDisposable, IAsyncDisposable, IEquatable<KeyedResourceLease<TKey, T>>
    where TKey : notnull
    where T : class
{
    private readonly ResourceLease<T> _lease;

    internal KeyedResourceLease(TKey key, ResourceLease<T> lease)
    {
        Key = key;
        _lease = lease;
    }

    internal ResourceLease<T> Lease => _lease;

    /// <summary>The key it was rented for.</summary>
    public TKey Key { get; }

    /// <summary>Whether the rental is still out.</summary>
    public bool IsActive => _lease.IsActive;

    /// <summary>The resource.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public T Value => _lease.Value;

    /// <summary>What the pool knows of the resource.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public ResourceLeaseInfo Info => _lease.Info;

    /// <summary>Says that the resource must not be rented again.</summary>
    /// <param name="reason">What happened; may be null.</param>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    public void MarkBroken(Exception? reason = null) => _lease.MarkBroken(reason);

    /// <summary>Takes the resource out of the pool.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed or detached, or is <c>default</c>.</exception>
    public T Detach() => _lease.Detach();

    /// <summary>Returns the resource. A lease that is over does nothing.</summary>
    public void Dispose() => _lease.Dispose();

    /// <summary>Returns the resource, and waits for the reset where the pool resets on return.</summary>
    public ValueTask DisposeAsync() => _lease.DisposeAsync();

    /// <inheritdoc/>
    public bool Equals(KeyedResourceLease<TKey, T> other) => _lease.Equals(other._lease);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is KeyedResourceLease<TKey, T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _lease.GetHashCode();

    /// <summary>Whether both are the same rental.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator ==(KeyedResourceLease<TKey, T> left, KeyedResourceLease<TKey, T> right) => left.Equals(right);

    /// <summary>Whether they are different rentals.</summary>
    /// <param name="left">A lease.</param>
    /// <param name="right">Another one.</param>
    public static bool operator !=(KeyedResourceLease<TKey, T> left, KeyedResourceLease<TKey, T> right) => !left.Equals(right);
}
