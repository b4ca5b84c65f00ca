namespace Tidepool;

/// <summary>What <c>Tidepool:Pools:NAME</c> may say of a keyed resource pool: its limits, and the options of each key.</summary>
/// <remarks><see cref="ResourcePoolSection.MaxSize"/> is the most resources of one key. Such a pool does not warm up.</remarks>
public sealed class KeyedResourcePoolSection : ResourcePoolSection
{
    /// <inheritdoc cref="KeyedResourcePoolOptions{TKey}.MaxTotal"/>
    public int MaxTotal { get; set; }

    /// <inheritdoc cref="KeyedResourcePoolOptions{TKey}.MaxKeys"/>
    public int MaxKeys { get; set; } = int.MaxValue;

    /// <inheritdoc cref="KeyedResourcePoolOptions{TKey}.StealIdleAcrossKeys"/>
    public bool StealIdleAcrossKeys { get; set; } = true;

    /// <inheritdoc/>
    internal override void CheckHosted()
    {
        base.CheckHosted();
        if (WarmUp is { } count and not 0)
        {
            throw Refusal(nameof(WarmUp), count, "0 with keys, because a pool has no key before it is rented from");
        }
    }

    internal KeyedResourcePoolOptions<TKey> ToOptions<TKey>(
        string name, IServiceProvider? services, IEqualityComparer<TKey>? comparer = null, Func<TKey, int?>? maxSizeOf = null)
        where TKey : notnull => new()
        {
            PerKey = ToOptions(name, services),
            MaxTotal = MaxTotal,
            MaxKeys = MaxKeys,
            StealIdleAcrossKeys = StealIdleAcrossKeys,
            Comparer = comparer,
            MaxSizeOf = maxSizeOf,
        };
}
