
namespace Tidepool;

/// <summary>What a <see cref="PooledMemoryStream"/> is made of. Make one instance and share it: a budget belongs to the instance.</summary>
/// <remarks>Immutable and thread-safe. Every constructor and rental that takes the options checks them.</remarks>
public sealed class PooledMemoryStreamOptions
{
    private readonly Lock _gate = new();
    private BufferPool<byte>? _ownPool;

    /// <summary>Where segments come from. The default is <see cref="BufferPool{T}.Shared"/>.</summary>
    public BufferPool<byte>? Pool { get; init; }

    /// <summary>
    /// The length of the first segment in bytes, 0 to 1,048,576, rounded up to a power of two; 0 leaves it to the stream. A hint for
    /// streams whose size is known: one segment is written, read and given away without a copy.
    /// </summary>
    public int InitialSize { get; init; }

    /// <summary>
    /// The longest content in bytes, 0 to 1 TiB, which is the default. A write that would exceed it throws <see cref="IOException"/> and
    /// changes nothing.
    /// </summary>
    public long MaxLength { get; init; } = StreamCore.LongestLength;

    /// <summary>
    /// Whether every segment is zeroed, by a method that the compiler may not remove, before it is returned. For secrets.
    /// </summary>
    public bool ZeroOnReturn { get; init; }

    /// <summary>
    /// The most bytes that may wait idle for the streams of this instance, 0 or more: they get a pool of their own. The default is to share
    /// <see cref="BufferPool{T}.Shared"/> and the budget of the process. Not together with <see cref="Pool"/>, which has its own budget.
    /// </summary>
    public long? Budget { get; init; }

    /// <summary>Whether a stream needs nothing but the defaults.</summary>
    internal bool IsDefault => Pool is null && InitialSize == 0 && MaxLength == StreamCore.LongestLength && !ZeroOnReturn && Budget is null;

    /// <summary>Checks the values as making a stream does, for programs that read them from a configuration.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A value is out of range; the message names it.</exception>
    /// <exception cref="ArgumentException">Both a pool and a budget are given.</exception>
    public void Validate() => Check(this);

    /// <summary>The pool of the streams, or null for the shared one.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A value is out of range; the message names it.</exception>
    /// <exception cref="ArgumentException">Both a pool and a budget are given.</exception>
    internal static BufferPool<byte>? ChoosePool(PooledMemoryStreamOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Check(options);
        return options.Budget is { } budget ? options._ownPool ?? options.MakeOwnPool(budget) : options.Pool;
    }

    private static void Check(PooledMemoryStreamOptions options)
    {
        if (options.InitialSize is < 0 or > StreamCore.MaxSegmentLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.InitialSize, $"InitialSize must be 0 to {StreamCore.MaxSegmentLength} bytes.");
        }

        if (options.MaxLength is < 0 or > StreamCore.LongestLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.MaxLength, $"MaxLength must be 0 to {StreamCore.LongestLength} bytes (1 TiB).");
        }

        if (options.Budget < 0)
        {
            throw new ArgumentOutOfRangeException(nameof(options), options.Budget, "Budget must be 0 bytes or more.");
        }

        if (options.Budget is not null && options.Pool is { } pool)
        {
            throw new ArgumentException(
                $"Pool and Budget exclude each other: give the budget to the pool ('{pool.Name}') when it is made.", nameof(options));
        }
    }

    private BufferPool<byte> MakeOwnPool(long budget)
    {
        lock (_gate)
        {
            return _ownPool ??= BufferPool<byte>.Create(
                new BufferPoolOptions<byte> { Name = nameof(PooledMemoryStreamOptions), Budget = budget });
        }
    }
}
