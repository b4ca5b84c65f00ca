using System.Text;

namespace Tidepool;

/// <summary>String builders that come back empty, and are given up when they have grown too long.</summary>
public readonly struct StringBuilderPolicy : IObjectPolicy<StringBuilder>
{
    /// <summary>What a builder may hold, in characters, and still be kept, unless another number is given.</summary>
    public const int DefaultMaxRetainedCapacity = 16 << 10;

    private const int InitialCapacity = 256;

    private readonly int _maxRetainedCapacity;

    /// <summary>Makes a policy.</summary>
    /// <param name="maxRetainedCapacity">The largest capacity of a builder that is kept, in characters; at least 16.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxRetainedCapacity"/> is below 16.</exception>
    public StringBuilderPolicy(int maxRetainedCapacity)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxRetainedCapacity, 16);
        _maxRetainedCapacity = maxRetainedCapacity;
    }

    /// <summary>The largest capacity of a builder that is kept, in characters.</summary>
    public int MaxRetainedCapacity => _maxRetainedCapacity == 0 ? DefaultMaxRetainedCapacity : _maxRetainedCapacity;

    /// <inheritdoc/>
    public StringBuilder Create() => new(Math.Min(InitialCapacity, MaxRetainedCapacity));

    /// <inheritdoc/>
    public bool TryReset(StringBuilder item)
    {
        ArgumentNullException.ThrowIfNull(item);
        if (item.Capacity > MaxRetainedCapacity)
        {
            return false;
        }

        item.Clear();
        return true;
    }

    /// <inheritdoc/>
    public void Destroy(StringBuilder item)
    {
    }
}
