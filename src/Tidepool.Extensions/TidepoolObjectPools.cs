using Microsoft.Extensions.ObjectPool;

namespace Tidepool;

/// <summary>
/// Makes pools of Tidepool for code that asks a provider of Microsoft.Extensions.ObjectPool: register it as
/// <see cref="ObjectPoolProvider"/>, and such code scales without a change.
/// </summary>
/// <remarks>
/// Thread-safe. Each call makes a pool with the same options; without a name of their own pools are told apart by type and number.
/// </remarks>
public sealed class TidepoolObjectPools : ObjectPoolProvider
{
    private readonly ObjectPoolOptions? _options;

    /// <summary>Makes a provider.</summary>
    /// <param name="options">What each pool is made of; null for all defaults.</param>
    public TidepoolObjectPools(ObjectPoolOptions? options = null) => _options = options;

    /// <summary>Makes a pool.</summary>
    /// <typeparam name="T">The kind of object.</typeparam>
    /// <param name="policy">How objects are made and reset.</param>
    /// <returns>A <see cref="MicrosoftObjectPool{T}"/>.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="policy"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public override Microsoft.Extensions.ObjectPool.ObjectPool<T> Create<T>(IPooledObjectPolicy<T> policy) =>
        new MicrosoftObjectPool<T>(new ObjectPool<T, MicrosoftPolicy<T>>(new MicrosoftPolicy<T>(policy), _options));
}
