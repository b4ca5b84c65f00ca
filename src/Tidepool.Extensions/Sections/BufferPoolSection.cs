using System.Numerics;

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

    /// <summary>Refuses what is out of range, as far as it is known before there is a source.</summary>
    /// <exception cref="ArgumentException">A value is out of its range; the message names it, its value and the range.</exception>
    internal void Check<T>(string name, bool hasSource)
    {
        if (hasSource && Alignment != 0 && !BitOperations.IsPow2(Alignment))
        {
            throw new ArgumentException($"Alignment is {Alignment}; allowed is 0 or a power of two that the source promises.");
        }

        ToOptions<T>(name, null, hasSource ? 0 : Alignment).Validate();
    }

    internal BufferPoolOptions<T> ToOptions<T>(string name, BufferSource<T>? source) => ToOptions(name, source, Alignment);

    private BufferPoolOptions<T> ToOptions<T>(string name, BufferSource<T>? source, int alignment) => new()
    {
        Name = name,
        Source = source,
        Budget = Budget,
        Clear = Clear,
        Secrets = Secrets,
        Alignment = alignment,
        MaxLength = MaxLength,
        Checks = Checks,
        CaptureStacks = CaptureStacks,
        LeakSampling = LeakSampling,
    };
}
