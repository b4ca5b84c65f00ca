namespace Tidepool;

/// <summary>
/// A pool of Microsoft.Extensions.ObjectPool as the place where the objects of a pool of Tidepool come from and go to: what no renter
/// needs any more is returned there. Objects are handed on as they are, and reset when they get there.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>
/// An object that comes back to our pool is reset only if it implements <see cref="IResettable"/> of Tidepool or a function was given:
/// the policy behind Microsoft's pool is not visible from outside.
/// </remarks>
public readonly struct MicrosoftPoolPolicy<T> : IObjectPolicy<T>
    where T : class
{
    private readonly Microsoft.Extensions.ObjectPool.ObjectPool<T> _pool;
    private readonly Func<T, bool>? _reset;

    /// <summary>Wraps a pool.</summary>
    /// <param name="pool">The pool behind.</param>
    /// <param name="reset">Makes a returned object as good as new, or says false: then it goes to the pool behind. Null resets objects
    /// that implement <see cref="IResettable"/>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    public MicrosoftPoolPolicy(Microsoft.Extensions.ObjectPool.ObjectPool<T> pool, Func<T, bool>? reset = null)
    {
        ArgumentNullException.ThrowIfNull(pool);
        _pool = pool;
        _reset = reset;
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">This policy is <c>default</c>.</exception>
    public T Create() =>
        _pool is null
            ? throw new InvalidOperationException($"This MicrosoftPoolPolicy<{typeof(T).Name}> is default: it wraps no pool.")
            : _pool.Get();

    /// <inheritdoc/>
    public bool TryReset(T item) =>
        _reset is not null ? _reset(item) : item is not IResettable resettable || resettable.TryReset();

    /// <inheritdoc/>
    public void Destroy(T item) => _pool.Return(item);
}
