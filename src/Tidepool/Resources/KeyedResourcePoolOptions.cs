namespace Tidepool;

/// <summary>Sets the limits over all keys of a <see cref="KeyedResourcePool{TKey, T}"/>, and the options of each key.</summary>
/// <typeparam name="TKey">The key.</typeparam>
public sealed class KeyedResourcePoolOptions<TKey>
    where TKey : notnull
{
    /// <summary>Sets the options of each key; its <see cref="ResourcePoolOptions.MaxSize"/> is the most resources of one key.</summary>
    /// <remarks>
    /// Name, clock and meter are those of the whole pool. <see cref="ResourcePoolOptions.MinSize"/> and
    /// <see cref="ResourcePoolOptions.MinIdle"/> must be 0, because a key that needs nothing is forgotten.
    /// </remarks>
    public required ResourcePoolOptions PerKey { get; init; }

    /// <summary>Sets the most resources of all keys together, 1 or more.</summary>
    public required int MaxTotal { get; init; }

    /// <summary>Sets the most keys at a time, 1 or more. The default is no limit.</summary>
    /// <remarks>
    /// A further key takes the place of the one that has been idle for longest, else of one whose creation has failed; else its rental is
    /// refused.
    /// </remarks>
    public int MaxKeys { get; init; } = int.MaxValue;

    /// <summary>Lets a rental without a place have an idle resource of another key destroyed, the oldest first.</summary>
    /// <remarks>The default is yes.</remarks>
    public bool StealIdleAcrossKeys { get; init; } = true;

    /// <summary>Gives the most resources of single keys, 1 or more; null means that of <see cref="PerKey"/>.</summary>
    /// <remarks>Called when the policy of a key is asked for. The default gives null.</remarks>
    public Func<TKey, int?>? MaxSizeOf { get; init; }

    /// <summary>Decides which keys are equal. The default is their own equality.</summary>
    public IEqualityComparer<TKey>? Comparer { get; init; }

    /// <summary>Checks the values as making a pool does, for programs that read them from a configuration.</summary>
    /// <exception cref="ArgumentNullException"><see cref="PerKey"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public void Validate() => Check(this);

    /// <summary>Checks the values and gives those of each key.</summary>
    internal static ResourceSettings Check(KeyedResourcePoolOptions<TKey> options)
    {
        ResourceSettings.Given(options.PerKey, nameof(options.PerKey), "the options of a pool", nameof(options));
        var perKey = new ResourceSettings(options.PerKey);
        ResourceSettings.AtLeastOne(options.MaxTotal, nameof(options.MaxTotal));
        ResourceSettings.AtLeastOne(options.MaxKeys, nameof(options.MaxKeys));
        CheckZero(perKey.MinSize, nameof(ResourcePoolOptions.MinSize));
        CheckZero(perKey.MinIdle, nameof(ResourcePoolOptions.MinIdle));
        return perKey;

        static void CheckZero(int value, string name)
        {
            if (value > 0)
            {
                throw new ArgumentOutOfRangeException(
                    nameof(options), value, $"{name} is {value}; allowed is 0 with keys, because a key that needs nothing is forgotten.");
            }
        }
    }
}
