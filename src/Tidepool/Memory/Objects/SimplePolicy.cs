namespace Tidepool;

/// <summary>
/// Objects made by their constructor without parameters. One that implements <see cref="IResettable"/> is reset when it comes back,
/// others are used again as they are; one that implements <see cref="IDisposable"/> is disposed when it leaves the pool.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
public readonly struct SimplePolicy<T> : IObjectPolicy<T>
    where T : class, new()
{
    /// <inheritdoc/>
    public T Create() => new();

    /// <inheritdoc/>
    public bool TryReset(T item) => item is not IResettable resettable || resettable.TryReset();

    /// <inheritdoc/>
    public void Destroy(T item) => (item as IDisposable)?.Dispose();
}
