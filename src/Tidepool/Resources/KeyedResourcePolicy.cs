namespace Tidepool;

/// <summary>How the resources of a keyed pool are made, looked after and ended. Like <see cref="ResourcePolicy{T}"/>, with the key where one is made.</summary>
/// <typeparam name="TKey">The key, such as an endpoint.</typeparam>
/// <typeparam name="T">The resource.</typeparam>
public abstract class KeyedResourcePolicy<TKey, T>
    where TKey : notnull
    where T : class
{
    /// <summary>Which of these methods do something.</summary>
    internal PolicyTraits Traits => PolicyTraits.Of(
        typeof(KeyedResourcePolicy<TKey, T>),
        (Func<TKey, CancellationToken, T>)Create,
        (Func<T, bool>)IsBroken,
        [(Func<T, bool?>)Validate, (Func<T, CancellationToken, ValueTask<bool>>)ValidateAsync],
        [(Func<T, bool?>)Reset, (Func<T, CancellationToken, ValueTask<bool>>)ResetAsync]);

    /// <summary>Makes a resource for a key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions{T}.CreateTimeout"/>, or by the shutdown.</param>
    public abstract ValueTask<T> CreateAsync(TKey key, CancellationToken cancellationToken);

    /// <summary>Makes a resource on the thread of a synchronous renter. The default throws.</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Cancelled also by the renter's token and timeout.</param>
    /// <exception cref="NotSupportedException">The policy creates only asynchronously.</exception>
    public virtual T Create(TKey key, CancellationToken cancellationToken) =>
        throw new NotSupportedException($"{GetType()} creates only asynchronously. Override Create for Rent, or use RentAsync.");

    /// <summary>Whether a failed creation will fail again until somebody changes something; see <see cref="ResourcePolicy{T}.IsLasting"/>. The default says no.</summary>
    /// <param name="key">The key.</param>
    /// <param name="failure">What the creation threw.</param>
    public virtual bool IsLasting(TKey key, Exception failure) => false;

    /// <summary>Whether the resource is known to be broken; quick, no I/O. Asked for a shared one also while its renters use it.</summary>
    /// <param name="resource">The resource.</param>
    public virtual bool IsBroken(T resource) => false;

    /// <summary>Whether the resource still works; may do I/O. The default asks <see cref="Validate"/>.</summary>
    /// <param name="resource">The resource.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions{T}.PolicyTimeout"/>, or by the shutdown.</param>
    public virtual ValueTask<bool> ValidateAsync(T resource, CancellationToken cancellationToken) => new(Validate(resource) ?? true);

    /// <summary>The same on the renter's thread; null where there is no synchronous way.</summary>
    /// <param name="resource">The resource.</param>
    public virtual bool? Validate(T resource) => null;

    /// <summary>Makes the resource as good as new for the next renter. The default calls <see cref="Reset"/>.</summary>
    /// <param name="resource">The resource.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions{T}.PolicyTimeout"/>, or by the shutdown.</param>
    public virtual ValueTask<bool> ResetAsync(T resource, CancellationToken cancellationToken) => new(Reset(resource) ?? true);

    /// <summary>The same on the calling thread; null where there is no synchronous way.</summary>
    /// <param name="resource">The resource.</param>
    public virtual bool? Reset(T resource) => null;

    /// <summary>Keeps an idle resource alive.</summary>
    /// <param name="resource">The resource.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions{T}.PolicyTimeout"/>, or by the shutdown.</param>
    public virtual ValueTask KeepAliveAsync(T resource, CancellationToken cancellationToken) => default;

    /// <summary>Ends a resource. The default disposes it when it is disposable.</summary>
    /// <param name="resource">The resource.</param>
    /// <param name="reason">Why.</param>
    public virtual async ValueTask DestroyAsync(T resource, DestroyReason reason)
    {
        switch (resource)
        {
            case IAsyncDisposable asynchronous:
                await asynchronous.DisposeAsync().ConfigureAwait(false);
                break;
            case IDisposable disposable:
                disposable.Dispose();
                break;
        }
    }
}
