using Microsoft.Extensions.ObjectPool;

namespace Tidepool;

/// <summary>Pools of objects of Tidepool where those of Microsoft.Extensions.ObjectPool are expected, and the other way round.</summary>
public static class ObjectPoolExtensions
{
    /// <summary>This pool as one of Microsoft's. Disposing that one disposes this.</summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="pool">A pool of Tidepool.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    public static MicrosoftObjectPool<T> AsMicrosoftPool<T>(this ObjectPool<T> pool)
        where T : class => new(pool);

    /// <summary>
    /// A pool of Tidepool in front of one of Microsoft's: new objects come from there, and go back there when they are not needed any
    /// more.
    /// </summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="pool">A pool of Microsoft's.</param>
    /// <param name="reset">Makes a returned object as good as new, or says false: then it goes to the pool behind. Null resets objects
    /// that implement <see cref="IResettable"/>.</param>
    /// <param name="options">What else the pool is made of; null for all defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public static ObjectPool<T> AsTidepoolPool<T>(
        this Microsoft.Extensions.ObjectPool.ObjectPool<T> pool, Func<T, bool>? reset = null, ObjectPoolOptions? options = null)
        where T : class => new ObjectPool<T, MicrosoftPoolPolicy<T>>(new MicrosoftPoolPolicy<T>(pool, reset), options);

    /// <summary>A pool of Tidepool that makes and resets objects by a policy of Microsoft's.</summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="policy">How objects are made and reset.</param>
    /// <param name="options">What else the pool is made of; null for all defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="policy"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public static ObjectPool<T> ToTidepoolPool<T>(this IPooledObjectPolicy<T> policy, ObjectPoolOptions? options = null)
        where T : class => new ObjectPool<T, MicrosoftPolicy<T>>(new MicrosoftPolicy<T>(policy), options);
}
