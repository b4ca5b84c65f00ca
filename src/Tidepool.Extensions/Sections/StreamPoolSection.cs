namespace Tidepool;

/// <summary>What <c>Tidepool:Pools:NAME</c> may say of streams.</summary>
/// <remarks>Each property means what it means in <see cref="PooledMemoryStreamOptions"/>, and has the same default.</remarks>
public sealed class StreamPoolSection
{
    private static readonly PooledMemoryStreamOptions Defaults = new();

    /// <inheritdoc cref="PooledMemoryStreamOptions.InitialSize"/>
    public int InitialSize { get; set; }

    /// <inheritdoc cref="PooledMemoryStreamOptions.MaxLength"/>
    public long MaxLength { get; set; } = Defaults.MaxLength;

    /// <inheritdoc cref="PooledMemoryStreamOptions.ZeroOnReturn"/>
    public bool ZeroOnReturn { get; set; }

    /// <summary>The most bytes that may wait idle for these streams, 0 or more. The default shares the budget of the process.</summary>
    public long? Budget { get; set; }

    internal PooledMemoryStreamOptions ToOptions() => new()
    {
        InitialSize = InitialSize,
        MaxLength = MaxLength,
        ZeroOnReturn = ZeroOnReturn,
        Budget = Budget,
    };
}
