using System.Text;

namespace Tidepool;

/// <summary>
/// A rented string builder: <c>using var text = PooledStringBuilder.Rent();</c>, append to <see cref="Builder"/>, take the string. A
/// builder that has grown beyond its pool's limit is given up when it comes back.
/// </summary>
/// <remarks>A small value; what <see cref="ObjectLease{T}"/> says of copies, threads and costs holds for it.</remarks>
public readonly struct PooledStringBuilder : IDisposable, IEquatable<PooledStringBuilder>
{
    private readonly ObjectLease<StringBuilder> _lease;

    private PooledStringBuilder(ObjectLease<StringBuilder> lease) => _lease = lease;

    /// <summary>The builder.</summary>
    /// <exception cref="ObjectDisposedException">It was returned, or this is <c>default</c>.</exception>
    public StringBuilder Builder => _lease.Value;

    /// <summary>Whether two are copies of one rental.</summary>
    public static bool operator ==(PooledStringBuilder left, PooledStringBuilder right) => left.Equals(right);

    /// <summary>Whether two are different rentals.</summary>
    public static bool operator !=(PooledStringBuilder left, PooledStringBuilder right) => !left.Equals(right);

    /// <summary>Rents an empty builder from <see cref="StringBuilderPool.Shared"/>.</summary>
    public static PooledStringBuilder Rent() => new(StringBuilderPool.Shared.Rent());

    /// <summary>Rents an empty builder.</summary>
    /// <param name="pool">Where it comes from.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    public static PooledStringBuilder Rent(ObjectPool<StringBuilder> pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        return new PooledStringBuilder(pool.Rent());
    }

    /// <summary>The text so far.</summary>
    /// <exception cref="ObjectDisposedException">The builder was returned, or this is <c>default</c>.</exception>
    public override string ToString() => Builder.ToString();

    /// <summary>The text so far; the builder goes back.</summary>
    /// <exception cref="ObjectDisposedException">The builder was returned, or this is <c>default</c>.</exception>
    public string ToStringAndReturn()
    {
        string text = Builder.ToString();
        _lease.Return();
        return text;
    }

    /// <summary>Returns the builder; does nothing when it was returned before (which is counted) or this is <c>default</c>.</summary>
    public void Dispose() => _lease.Dispose();

    /// <inheritdoc/>
    public bool Equals(PooledStringBuilder other) => _lease == other._lease;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is PooledStringBuilder other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _lease.GetHashCode();
}
