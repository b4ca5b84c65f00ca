namespace Tidepool;

/// <summary>What <c>Tidepool:Pools:NAME</c> may say of an object pool.</summary>
/// <remarks>Each property means what it means in <see cref="ObjectPoolOptions"/>, and has the same default.</remarks>
public sealed class ObjectPoolSection
{
    private static readonly ObjectPoolOptions Defaults = new();

    /// <inheritdoc cref="ObjectPoolOptions.Budget"/>
    public int Budget { get; set; } = Defaults.Budget;

    /// <inheritdoc cref="ObjectPoolOptions.ItemBytes"/>
    public int ItemBytes { get; set; } = Defaults.ItemBytes;

    /// <inheritdoc cref="ObjectPoolOptions.Checks"/>
    public PoolChecks? Checks { get; set; }

    /// <inheritdoc cref="ObjectPoolOptions.CaptureStacks"/>
    public bool CaptureStacks { get; set; }

    /// <inheritdoc cref="ObjectPoolOptions.LeakSampling"/>
    public int LeakSampling { get; set; } = Defaults.LeakSampling;

    internal ObjectPoolOptions ToOptions(string? name) => new()
    {
        Name = name,
        Budget = Budget,
        ItemBytes = ItemBytes,
        Checks = Checks,
        CaptureStacks = CaptureStacks,
        LeakSampling = LeakSampling,
    };
}
