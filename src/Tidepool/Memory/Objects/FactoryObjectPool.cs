namespace Tidepool;

/// <summary>A pool of objects made by a function; see <see cref="FactoryPolicy{T}"/>.</summary>
/// <typeparam name="T">The kind of object.</typeparam>
public sealed class FactoryObjectPool<T> : ObjectPool<T, FactoryPolicy<T>>
    where T : class
{
    /// <summary>Makes a pool from functions, which must be thread-safe.</summary>
    /// <param name="create">Makes an object.</param>
    /// <param name="reset">Makes a returned object as good as new, or says false: then it is destroyed. Null resets objects that
    /// implement <see cref="IResettable"/>.</param>
    /// <param name="options">What else it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public FactoryObjectPool(Func<T> create, Func<T, bool>? reset = null, ObjectPoolOptions? options = null)
        : base(new FactoryPolicy<T>(create, reset), options)
    {
    }
}
