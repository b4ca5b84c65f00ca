namespace Tidepool;

/// <summary>Lists the live pools of the process, for health pages and tools.</summary>
public static class Pools
{
    /// <summary>Every live pool with its name, kind and statistics, in the order of their names: a copy of this moment.</summary>
    /// <remarks>
    /// Thread-safe. The list keeps no pool alive: one that has ended, or that the garbage collector has found, is not in it. Costs one
    /// <c>GetStatistics</c> for each pool: for pages that a person or a monitor asks for, not for loops.
    /// </remarks>
    public static IReadOnlyList<PoolInfo> All
    {
        get
        {
            List<PoolInfo> all = LivePools.Snapshot().ConvertAll(static pool => pool.Describe());
            all.Sort(static (a, b) => string.CompareOrdinal(a.Name, b.Name));
            return all;
        }
    }

    /// <summary>The live pool of a name, or null when there is none. Costs the <c>GetStatistics</c> of that pool alone.</summary>
    /// <param name="name">The name as the pool has it: that of a second pool ends with a number.</param>
    /// <exception cref="ArgumentNullException"><paramref name="name"/> is null.</exception>
    public static PoolInfo? Find(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return LivePools.Snapshot().Find(pool => pool.PoolName.Text == name)?.Describe();
    }
}

/// <summary>What a pool hands out.</summary>
public enum PoolKind
{
    /// <summary>Buffers: <see cref="BufferPool{T}"/>, and the memory pools over one.</summary>
    Buffers,

    /// <summary>Objects: <see cref="ObjectPool{T}"/>.</summary>
    Objects,

    /// <summary>The streams of the process: <see cref="PooledMemoryStream"/>.</summary>
    Streams,

    /// <summary>Resources: <see cref="ResourcePool{T}"/>.</summary>
    Resources,

    /// <summary>Resources for each key: <see cref="KeyedResourcePool{TKey, T}"/>.</summary>
    KeyedResources,

    /// <summary>Connections to a database: <see cref="Data.PooledDbDataSource"/>.</summary>
    Connections,
}

/// <summary>Describes one live pool at one moment. Immutable; holds no reference to the pool.</summary>
public sealed record PoolInfo
{
    internal PoolInfo(string name, PoolKind kind) => (Name, Kind) = (name, kind);

    /// <summary>The name in messages, events and metrics; no two live pools have the same.</summary>
    public string Name { get; }

    /// <summary>What the pool hands out.</summary>
    public PoolKind Kind { get; }

    /// <summary>The numbers of a pool of buffers, objects or streams; null for all others.</summary>
    public PoolStatistics? Statistics { get; internal init; }

    /// <summary>The numbers of a pool of resources or connections; null for all others.</summary>
    /// <remarks>
    /// With keys they are the sums over the keys that the pool has now, so counts fall when a key is forgotten; the largest size is that of
    /// all keys together.
    /// </remarks>
    public ResourcePoolStatistics? ResourceStatistics { get; internal init; }

    /// <summary>How many items are rented now, of whatever kind.</summary>
    public long Leased => Statistics?.Leased ?? ResourceStatistics?.Leased ?? 0;

    /// <summary>How many items wait for a renter, of whatever kind.</summary>
    public long Idle => Statistics?.Idle ?? ResourceStatistics?.Idle ?? 0;
}
