namespace Tidepool;

/// <summary>
/// Objects made by a function, and reset by another one where it is given; otherwise as in <see cref="SimplePolicy{T}"/>. One that
/// implements <see cref="IDisposable"/> is disposed when it leaves the pool.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
public readonly struct FactoryPolicy<T> : IObjectPolicy<T>
    where T : class
{
    private readonly Func<T> _create;
    private readonly Func<T, bool>? _reset;

    /// <summary>Makes a policy. Both functions must be thread-safe.</summary>
    /// <param name="create">Makes an object.</param>
    /// <param name="reset">Makes a returned object as good as new, or says false: then it is destroyed. Null resets objects that
    /// implement <see cref="IResettable"/>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> is null.</exception>
    public FactoryPolicy(Func<T> create, Func<T, bool>? reset = null)
    {
        ArgumentNullException.ThrowIfNull(create);
        _create = create;
        _reset = reset;
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">This policy is <c>default</c> and has no function.</exception>
    public T Create() =>
        _create is null
            ? throw new InvalidOperationException(
                $"This FactoryPolicy<{TypeName.Of<T>()}> is default: it has no function that makes objects.")
            : _create();

    /// <inheritdoc/>
    public bool TryReset(T item) =>
        _reset is not null ? _reset(item) : item is not IResettable resettable || resettable.TryReset();

    /// <inheritdoc/>
    public void Destroy(T item) => (item as IDisposable)?.Dispose();
}
