using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <summary>
/// A pool of Tidepool where one of Microsoft.Extensions.ObjectPool is expected: <c>Get</c> and <c>Return</c> are raw rentals.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>Thread-safe. One virtual call more than the pool itself. Disposing it disposes the pool.</remarks>
public sealed class MicrosoftObjectPool<T> : Microsoft.Extensions.ObjectPool.ObjectPool<T>, IDisposable
    where T : class
{
    /// <summary>Wraps a pool.</summary>
    /// <param name="pool">The pool that does the work.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    public MicrosoftObjectPool(ObjectPool<T> pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        Pool = pool;
    }

    /// <summary>The pool that does the work, for its statistics and leases.</summary>
    public ObjectPool<T> Pool { get; }

    /// <summary>Rents an object.</summary>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    public override T Get() => Pool.RentRaw();

    /// <summary>Returns an object.</summary>
    /// <param name="obj">The object.</param>
    /// <exception cref="ArgumentNullException"><paramref name="obj"/> is null.</exception>
    /// <exception cref="PoolMisuseException">The object was returned a moment ago (not with checks off).</exception>
    [SuppressMessage("Naming", "CA1725:Parameter names should match base declaration", Justification = "They do.")]
    public override void Return(T obj)
    {
        ArgumentNullException.ThrowIfNull(obj);
        Pool.ReturnRaw(obj);
    }

    /// <summary>Ends the pool.</summary>
    public void Dispose() => Pool.Dispose();
}
