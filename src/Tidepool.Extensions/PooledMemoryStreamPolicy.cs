namespace Tidepool;

/// <summary>
/// Lets a pool of Microsoft.Extensions.ObjectPool keep <see cref="PooledMemoryStream"/> objects, empty and without rented segments.
/// </summary>
/// <remarks>
/// <see cref="PooledMemoryStream.Rent()"/> needs no such pool. The policy is for code that has an
/// <c>ObjectPool&lt;PooledMemoryStream&gt;</c> already. Do not dispose a stream that goes back to the pool: a disposed one is dropped.
/// </remarks>
public sealed class PooledMemoryStreamPolicy : ResettablePolicy<PooledMemoryStream>
{
    /// <summary>Makes a policy for streams with default options.</summary>
    public PooledMemoryStreamPolicy()
        : base(static () => new PooledMemoryStream())
    {
    }

    /// <summary>Makes a policy for streams with options.</summary>
    /// <param name="options">The options of every stream.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A value of the options is out of range.</exception>
    /// <exception cref="ArgumentException">The options have both a pool and a budget.</exception>
    public PooledMemoryStreamPolicy(PooledMemoryStreamOptions options)
        : base(MakerOf(options))
    {
    }

    private static Func<PooledMemoryStream> MakerOf(PooledMemoryStreamOptions options)
    {
        new PooledMemoryStream(options).Dispose(); // refuses wrong options here, not when the first stream is made
        return () => new PooledMemoryStream(options);
    }
}
