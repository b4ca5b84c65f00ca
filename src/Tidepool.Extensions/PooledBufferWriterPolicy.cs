namespace Tidepool;

/// <summary>
/// Lets a pool of Microsoft.Extensions.ObjectPool keep <see cref="PooledBufferWriter{T}"/> objects, empty and without a rented buffer.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
public sealed class PooledBufferWriterPolicy<T> : ResettablePolicy<PooledBufferWriter<T>>
{
    /// <summary>Makes a policy.</summary>
    /// <param name="pool">Where buffers come from; null for <see cref="BufferPool{T}.Shared"/>.</param>
    public PooledBufferWriterPolicy(BufferPool<T>? pool = null)
        : base(() => new PooledBufferWriter<T>(pool))
    {
    }
}
