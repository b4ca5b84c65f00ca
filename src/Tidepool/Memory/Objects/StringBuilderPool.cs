using System.Text;

namespace Tidepool;

/// <summary>
/// A pool of string builders; see <see cref="StringBuilderPolicy"/>. <see cref="PooledStringBuilder"/> is the shortest way to use it.
/// </summary>
public sealed class StringBuilderPool : ObjectPool<StringBuilder, StringBuilderPolicy>
{
    private readonly bool _isShared;

    /// <summary>Makes a pool.</summary>
    /// <param name="maxRetainedCapacity">The largest capacity of a builder that is kept, in characters; at least 16.</param>
    /// <param name="options">What else it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxRetainedCapacity"/> or an option is out of range; the message
    /// names it and its range.</exception>
    public StringBuilderPool(int maxRetainedCapacity = StringBuilderPolicy.DefaultMaxRetainedCapacity, ObjectPoolOptions? options = null)
        : base(new StringBuilderPolicy(maxRetainedCapacity), options)
    {
    }

    private StringBuilderPool(ObjectPoolOptions options)
        : base(default, options) => _isShared = true;

    /// <summary>The pool of the process. Disposing it does nothing.</summary>
    public static StringBuilderPool Shared { get; } = new(new ObjectPoolOptions { Name = "Shared<StringBuilder>" });

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (!_isShared)
        {
            base.Dispose(disposing);
        }
    }
}
