namespace Tidepool;

/// <summary>What a <see cref="KeyedResourcePool{TKey, T}"/> is made of.</summary>
/// <typeparam name="TKey">The key.</typeparam>
/// <typeparam name="T">The resource.</typeparam>
public sealed class KeyedResourcePoolOptions<TKey, T>
    where TKey : notnull
    where T : class
{
    /// <summary>
    /// The options of each key: <see cref="ResourcePoolOptions{T}.MaxSize"/> is the most resources of one key. Name, clock and meter are those of the whole
    /// pool. <see cref="ResourcePoolOptions{T}.MinSize"/> and <see cref="ResourcePoolOptions{T}.MinIdle"/> must be 0, because a key that needs nothing is forgotten.
    /// </summary>
    public required ResourcePoolOptions<T> PerKey { get; init; }

    /// <summary>The most resources of all keys together, 1 or more.</summary>
    public required int MaxTotal { get; init; }

    /// <summary>The most keys at a time, 1 or more. A further one takes the place of the key that has been idle for longest, else of one whose creation has failed, or is refused. The default is no limit.</summary>
    public int MaxKeys { get; init; } = int.MaxValue;

    /// <summary>Whether an idle resource of another key is ended for a rental that waits for a place, the oldest first. The default is yes.</summary>
    public bool StealIdleAcrossKeys { get; init; } = true;

    /// <summary>The most resources of single keys; null, or null from it, means those of <see cref="PerKey"/>. Called once when a key is first needed.</summary>
    public Func<TKey, int?>? MaxSizeOf { get; init; }

    /// <summary>Which keys are equal. The default is their own equality.</summary>
    public IEqualityComparer<TKey>? Comparer { get; init; }
}
