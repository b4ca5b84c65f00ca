namespace Tidepool;

/// <summary>Makes pools of resources from functions.</summary>
public static class ResourcePool
{
    /// <summary>Makes a pool from a function that creates resources.</summary>
    /// <typeparam name="T">The resource.</typeparam>
    /// <param name="create">Makes a resource that is ready for use; see <see cref="ResourcePolicy{T}.CreateAsync"/>.</param>
    /// <param name="options">Sizes, times and the rest.</param>
    /// <param name="validate">Whether a resource that was idle still works; null never asks.</param>
    /// <param name="reset">Makes a returned resource as good as new, or says false: then it is destroyed. Null does nothing.</param>
    /// <returns>The pool. What it creates is disposed at its end, where it is disposable.</returns>
    /// <remarks>
    /// It creates only for callers that await. A pool for <see cref="ResourcePool{T}.Rent(CancellationToken)"/>, or with more to say,
    /// needs a class that derives from <see cref="ResourcePolicy{T}"/>.
    /// </remarks>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> or <paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public static ResourcePool<T> Create<T>(
        Func<CancellationToken, Task<T>> create,
        ResourcePoolOptions options,
        Func<T, CancellationToken, ValueTask<bool>>? validate = null,
        Func<T, CancellationToken, ValueTask<bool>>? reset = null)
        where T : class => new(ResourcePolicy.From(create, validate, reset), options);
}

/// <summary>Makes policies of resources from functions.</summary>
public static class ResourcePolicy
{
    /// <summary>Makes a policy from a function that creates resources, as <see cref="ResourcePool.Create"/> does.</summary>
    /// <typeparam name="T">The resource.</typeparam>
    /// <param name="create">Makes a resource that is ready for use; see <see cref="ResourcePolicy{T}.CreateAsync"/>.</param>
    /// <param name="validate">Whether a resource that was idle still works; null never asks.</param>
    /// <param name="reset">Makes a returned resource as good as new, or says false: then it is destroyed. Null does nothing.</param>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> is null.</exception>
    public static ResourcePolicy<T> From<T>(
        Func<CancellationToken, Task<T>> create,
        Func<T, CancellationToken, ValueTask<bool>>? validate = null,
        Func<T, CancellationToken, ValueTask<bool>>? reset = null)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(create);
        return new FactoryResourcePolicy<T>(create, validate, reset);
    }
}

/// <summary>Calls functions of the program.</summary>
internal sealed class FactoryResourcePolicy<T>(
    Func<CancellationToken, Task<T>> create,
    Func<T, CancellationToken, ValueTask<bool>>? validate,
    Func<T, CancellationToken, ValueTask<bool>>? reset) : ResourcePolicy<T>
    where T : class
{
    /// <summary>What it overrides says nothing: the functions may be missing.</summary>
    internal override PolicyTraits Traits { get; } = new(
        CreatesInline: false, LooksForBroken: false, Validates: validate is not null, Resets: reset is not null, WaitsInReset: false);

    public override ValueTask<T> CreateAsync(CancellationToken cancellationToken) => new(create(cancellationToken));

    public override T Create(CancellationToken cancellationToken) => throw new NotSupportedException(
        "This pool was made from a function, which creates only asynchronously. Use RentAsync, warm the pool up, or derive a policy "
        + $"from {nameof(ResourcePolicy<>)}<{typeof(T).Name}> that overrides {nameof(Create)}.");

    public override ValueTask<bool> ValidateAsync(T resource, CancellationToken cancellationToken) =>
        validate is null ? new(true) : validate(resource, cancellationToken);

    public override ValueTask<bool> ResetAsync(T resource, CancellationToken cancellationToken) =>
        reset is null ? new(true) : reset(resource, cancellationToken);
}
