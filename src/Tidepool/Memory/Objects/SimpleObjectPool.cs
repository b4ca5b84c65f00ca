namespace Tidepool;

/// <summary>A pool of objects made by their constructor without parameters; see <see cref="SimplePolicy{T}"/>.</summary>
/// <typeparam name="T">The kind of object.</typeparam>
public sealed class SimpleObjectPool<T> : ObjectPool<T, SimplePolicy<T>>
    where T : class, new()
{
    /// <summary>Makes a pool.</summary>
    /// <param name="options">What it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public SimpleObjectPool(ObjectPoolOptions? options = null)
        : base(default, options)
    {
    }
}
