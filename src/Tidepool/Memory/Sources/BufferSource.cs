
namespace Tidepool;

/// <summary>
/// Makes and frees the buffers of a pool. Derive from it to bring memory of another kind; a pool calls it on a miss and when idle
/// buffers are given back, never on a rental that a tier serves.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>Implementations must be thread-safe: a pool calls from every renter's thread and from the trim timer.</remarks>
public abstract class BufferSource<T>
{
    /// <summary>What the buffers of this source are.</summary>
    public abstract BufferForm Form { get; }

    /// <summary>The longest buffer that this source makes, in elements. The default is <see cref="Array.MaxLength"/>.</summary>
    public virtual int MaxLength => Array.MaxLength;

    /// <summary>
    /// The largest alignment of a buffer's first element that this source can promise, in bytes; 0 for the natural one of an array.
    /// </summary>
    public virtual int MaxAlignment => 0;

    /// <summary>Makes one buffer.</summary>
    /// <param name="length">Its length in elements, 1 to <see cref="MaxLength"/>.</param>
    /// <param name="alignment">The alignment of its first element in bytes: 0, or a power of two up to <see cref="MaxAlignment"/>.</param>
    /// <returns>A buffer of exactly <paramref name="length"/> elements. Its content is unspecified unless <typeparamref name="T"/> holds
    /// references; then it is cleared.</returns>
    /// <exception cref="OutOfMemoryException">There is no memory left; the pool's state is then unchanged.</exception>
    public abstract SourceBuffer<T> Allocate(int length, int alignment);

    /// <summary>
    /// Takes a buffer back that no one will use again. Called once per buffer. An array whose renter dropped it is never seen here; native
    /// memory whose renter dropped it is, on the finalizer's thread.
    /// </summary>
    /// <param name="buffer">A buffer made by <see cref="Allocate"/> of this source.</param>
    public virtual void Free(in SourceBuffer<T> buffer)
    {
    }
}
