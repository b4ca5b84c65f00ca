namespace Tidepool;

/// <summary>
/// Lets a pool of Microsoft.Extensions.ObjectPool keep <see cref="PooledSequenceWriter{T}"/> objects, empty and without rented segments.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
public sealed class PooledSequenceWriterPolicy<T> : ResettablePolicy<PooledSequenceWriter<T>>
{
    /// <summary>Makes a policy.</summary>
    /// <param name="pool">Where segments come from; null for <see cref="BufferPool{T}.Shared"/>.</param>
    public PooledSequenceWriterPolicy(BufferPool<T>? pool = null)
        : base(() => new PooledSequenceWriter<T>(pool))
    {
    }
}
