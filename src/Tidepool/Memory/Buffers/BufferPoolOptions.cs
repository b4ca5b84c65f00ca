namespace Tidepool;

/// <summary>What a <see cref="BufferPool{T}"/> is made of. Everything has a default that is safe and bounded.</summary>
/// <typeparam name="T">The element type.</typeparam>
public sealed class BufferPoolOptions<T>
{
    /// <summary>
    /// The name in messages, events and metrics. The default is the type's name and a number; a further pool of a name gets one too
    /// (<c>name#2</c>).
    /// </summary>
    public string? Name { get; init; }

    /// <summary>What makes the buffers. The default is <see cref="HeapSource{T}"/>.</summary>
    public BufferSource<T>? Source { get; init; }

    /// <summary>
    /// The lengths of leases. The default is <see cref="SizeClasses.Default"/>; other tables cost a few nanoseconds per rental.
    /// </summary>
    public SizeClasses? Sizes { get; init; }

    /// <summary>
    /// The most bytes that may wait idle, 0 or more. The default shares the process's budget, a quarter of the memory that the garbage
    /// collector may use; a budget of its own is charged to that one too. A rental never fails for the budget: what does not fit is
    /// dropped on return.
    /// </summary>
    public long? Budget { get; init; }

    /// <summary>The budget that several pools share; null for one of <see cref="Budget"/>.</summary>
    internal Budget? SharedBudget { get; init; }

    /// <summary>When buffers are zeroed, whole and for every way of renting. The default is never.</summary>
    public ClearMode Clear { get; init; }

    /// <summary>Whether the whole buffer is wiped on return by a method that the compiler may not remove.</summary>
    public bool Secrets { get; init; }

    /// <summary>
    /// The alignment of each buffer's first element in bytes: 0 for the natural one, or a power of two that the source can promise.
    /// </summary>
    public int Alignment { get; init; }

    /// <summary>
    /// The longest buffer that is kept, in elements; longer requests are served and dropped on return. 1 to
    /// <see cref="Array.MaxLength"/>.
    /// </summary>
    public int MaxLength { get; init; } = Array.MaxLength;

    /// <summary>How much is checked. The default is the mode of the process.</summary>
    public PoolChecks? Checks { get; init; }

    /// <summary>In full checks, whether every rental records where it was made and returned; otherwise 1 in 128 does.</summary>
    public bool CaptureStacks { get; init; }

    /// <summary>
    /// One new buffer in this many is watched for being dropped without return, with the place of its first rental. 0 watches none. Native
    /// buffers are all watched, because a dropped one must be given to its source; of those this says how many know the place.
    /// </summary>
    public int LeakSampling { get; init; } = 64;

    /// <summary>Checks the values as making a pool does, for programs that read them from a configuration.</summary>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    /// <exception cref="NotSupportedException">The elements hold references, and the source makes native memory.</exception>
    public void Validate() => BufferPoolSettings<T>.Check(this);
}
