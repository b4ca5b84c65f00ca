using System.Buffers;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryPool{T}"/> of native memory: exact lengths, any alignment, pooled in the same tiers as managed buffers, trimmed and
/// bounded as they are. For pipes, native callers and direct input and output.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
/// <remarks>
/// <para>Thread-safe. Owners are reused, so a rental that a tier serves allocates nothing. A second Dispose of an owner is harmless until
/// the owner has been reused, which is after at least 16 further rentals of that size on that thread: dispose once.</para>
/// <para>What the default checks cannot see: a <see cref="Memory{T}"/> that was taken before the Dispose throws afterwards, but only
/// until its owner is reused; then it shows the memory of the owner's next rental. A span taken before is never noticed. In full checks
/// (<see cref="PoolChecks.Full"/>) every rental has an owner of its own, a stale memory throws for good, and a write through a stale span
/// is found when the buffer is rented again.</para>
/// <para>An owner that is dropped without Dispose is freed by a finalizer and reported as <see cref="MisuseKind.NeverReturned"/>, as soon
/// as no idle owner refers to the same buffer: within some rentals of that size on that thread, or a minute after the last.</para>
/// </remarks>
public sealed class NativeMemoryPool<T> : MemoryPool<T>
    where T : unmanaged
{
    private readonly BufferPool<T> _buffers;
    private readonly PooledMemoryPool<T> _owners;

    /// <summary>Makes a pool.</summary>
    /// <param name="alignment">The alignment of each memory in bytes: 0 for 16, or a power of two up to 1 GiB.</param>
    /// <param name="budget">The most bytes that may wait idle, 0 or more; null for what the process's budget leaves.</param>
    /// <param name="checks">How much is checked; null for the mode of the process.</param>
    /// <param name="name">The name in messages, events and metrics; null for the type's name. A further pool of a name gets a number
    /// (<c>name#2</c>).</param>
    /// <exception cref="ArgumentOutOfRangeException">An argument is out of range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    /// <exception cref="DllNotFoundException">The native library is not there; the message says where it was looked for and how it is
    /// built.</exception>
    public NativeMemoryPool(int alignment = 0, long? budget = null, PoolChecks? checks = null, string? name = null)
    {
        if (name is not null && string.IsNullOrWhiteSpace(name))
        {
            throw new ArgumentException(
                $"The name is '{name}'; allowed is text with a character to see, or null for the type's name.",
                nameof(name));
        }

        _buffers = BufferPool<T>.Create(new BufferPoolOptions<T>
        {
            Name = name ?? $"NativeMemoryPool<{typeof(T).Name}>",
            Source = NativeSource<T>.Instance,
            Alignment = alignment,
            Budget = budget,
            Checks = checks,
        });
        _owners = new PooledMemoryPool<T>(_buffers, OwnerReuse.Guarded);
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _buffers.Name;

    /// <summary>The longest memory that can be rented, in elements.</summary>
    public override int MaxBufferSize => _owners.MaxBufferSize;

    /// <summary>Rents memory.</summary>
    /// <param name="minBufferSize">Its length in elements, 0 to <see cref="MaxBufferSize"/>; -1 for 4096 bytes' worth.</param>
    /// <returns>An owner of exactly that many elements with unspecified content.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minBufferSize"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    /// <exception cref="InsufficientMemoryException">No tier had a buffer and there is no native memory left; an
    /// <see cref="OutOfMemoryException"/>.</exception>
    public override IMemoryOwner<T> Rent(int minBufferSize = -1) => _owners.Rent(minBufferSize);

    /// <summary>What the pool has done and holds.</summary>
    public PoolStatistics GetStatistics() => _buffers.GetStatistics();

    /// <summary>
    /// Gives every idle buffer back to the native library now. <see cref="TidepoolNative.Trim"/> goes on from there to the system.
    /// </summary>
    public void Trim() => _buffers.Trim();

    /// <summary>Checks every invariant of the tiers. For tests: call it while no thread rents or returns.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    public void Validate() => _buffers.Validate();

    /// <summary>Ends the pool: idle buffers are freed, memory that is out stays usable and is freed when it is returned.</summary>
    /// <param name="disposing">True from Dispose.</param>
    protected override void Dispose(bool disposing) => _buffers.Dispose();
}
