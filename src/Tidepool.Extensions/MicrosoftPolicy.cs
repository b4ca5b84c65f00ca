using Microsoft.Extensions.ObjectPool;

namespace Tidepool;

/// <summary>
/// A policy of Microsoft.Extensions.ObjectPool as one of Tidepool: its <c>Create</c> makes objects, its <c>Return</c> resets them.
/// Objects that implement <see cref="IDisposable"/> are disposed when they leave the pool.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>With <see cref="DefaultPooledObjectPolicy{T}"/> the interface <c>IResettable</c> of Microsoft is honoured.</remarks>
public readonly struct MicrosoftPolicy<T> : IObjectPolicy<T>
    where T : class
{
    private readonly IPooledObjectPolicy<T> _policy;

    /// <summary>Wraps a policy.</summary>
    /// <param name="policy">The policy; thread-safe, as Microsoft's pools ask for as well.</param>
    /// <exception cref="ArgumentNullException"><paramref name="policy"/> is null.</exception>
    public MicrosoftPolicy(IPooledObjectPolicy<T> policy)
    {
        ArgumentNullException.ThrowIfNull(policy);
        _policy = policy;
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">This policy is <c>default</c>.</exception>
    public T Create() =>
        _policy is null
            ? throw new InvalidOperationException($"This MicrosoftPolicy<{typeof(T).Name}> is default: it wraps no policy.")
            : _policy.Create();

    /// <inheritdoc/>
    public bool TryReset(T item) => _policy.Return(item);

    /// <inheritdoc/>
    public void Destroy(T item) => (item as IDisposable)?.Dispose();
}
