namespace Tidepool;

/// <summary>Renting straight into a scope.</summary>
public static class LeaseScopeExtensions
{
    /// <summary>Rents a buffer that the scope returns.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="scope">The scope.</param>
    /// <param name="pool">The pool.</param>
    /// <param name="length">The length in elements.</param>
    /// <exception cref="ArgumentNullException">The scope or the pool is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is out of range.</exception>
    public static BufferLease<T> Rent<T>(this LeaseScope scope, BufferPool<T> pool, int length)
    {
        ArgumentNullException.ThrowIfNull(scope);
        ArgumentNullException.ThrowIfNull(pool);
        BufferLease<T> lease = pool.Rent(length);
        scope.Add(lease);
        return lease;
    }

    /// <summary>Rents a buffer that the scope returns.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="scope">The scope.</param>
    /// <param name="pool">The pool.</param>
    /// <param name="length">The length in elements.</param>
    /// <exception cref="ArgumentNullException">The scope or the pool is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is out of range.</exception>
    public static BufferLease<T> Rent<T>(this AsyncLeaseScope scope, BufferPool<T> pool, int length)
    {
        ArgumentNullException.ThrowIfNull(scope);
        ArgumentNullException.ThrowIfNull(pool);
        BufferLease<T> lease = pool.Rent(length);
        scope.Add(lease);
        return lease;
    }
}
