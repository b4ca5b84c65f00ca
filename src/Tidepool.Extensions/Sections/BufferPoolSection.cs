namespace Tidepool;

/// <summary>What <c>Tidepool:Pools:NAME</c> may say of a buffer pool, or of the memory pool over one.</summary>
/// <remarks>Each property means what it means in <see cref="BufferPoolOptions{T}"/>, and has the same default.</remarks>
public sealed class BufferPoolSection
{
    private static readonly BufferPoolOptions<byte> Defaults = new();

    /// <inheritdoc cref="BufferPoolOptions{T}.Budget"/>
    public long? Budget { get; set; }

    /// <inheritdoc cref="BufferPoolOptions{T}.Clear"/>
    public ClearMode Clear { get; set; }

    /// <inheritdoc cref="BufferPoolOptions{T}.Secrets"/>
    public bool Secrets { get; set; }

    /// <inheritdoc cref="BufferPoolOptions{T}.Alignment"/>
    public int Alignment { get; set; }

    /// <inheritdoc cref="BufferPoolOptions{T}.MaxLength"/>
    public int MaxLength { get; set; } = Defaults.MaxLength;

    /// <inheritdoc cref="BufferPoolOptions{T}.Checks"/>
    public PoolChecks? Checks { get; set; }

    /// <inheritdoc cref="BufferPoolOptions{T}.CaptureStacks"/>
    public bool CaptureStacks { get; set; }

    /// <inheritdoc cref="BufferPoolOptions{T}.LeakSampling"/>
    public int LeakSampling { get; set; } = Defaults.LeakSampling;

    internal BufferPoolOptions<T> ToOptions<T>(string name, BufferSource<T>? source) => new()
    {
        Name = name,
        Source = source,
        Budget = Budget,
        Clear = Clear,
        Secrets = Secrets,
        Alignment = Alignment,
        MaxLength = MaxLength,
        Checks = Checks,
        CaptureStacks = CaptureStacks,
        LeakSampling = LeakSampling,
    };
}
