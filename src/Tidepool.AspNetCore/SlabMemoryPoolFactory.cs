using System.Buffers;
using Microsoft.AspNetCore.Connections;

namespace Tidepool;

/// <summary>
/// Makes the memory pools of an ASP.NET Core server: blocks of 4,096 bytes carved from pinned slabs. All pools of one factory share a
/// budget of idle bytes.
/// </summary>
/// <remarks>
/// Thread-safe. Kestrel asks for one pool for each I/O queue and disposes them when it stops. A pool that is dropped gives its memory back
/// too. Idle blocks are trimmed by Tidepool's own timer, like those of every other pool.
/// </remarks>
public sealed class SlabMemoryPoolFactory : IMemoryPoolFactory<byte>
{
    // What Kestrel's own pool has: its pipes are laid out for blocks of this length.
    private const int BlockBytes = 4096;

    private readonly Budget _budget;

    /// <summary>Makes a factory.</summary>
    /// <param name="budget">The most bytes that may wait idle in all pools of this factory together, 0 or more; null for the budget of
    /// the process, a quarter of the memory that the garbage collector may use. A rental never fails for the budget: what does not fit is
    /// dropped on return.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="budget"/> is negative.</exception>
    public SlabMemoryPoolFactory(long? budget = null)
    {
        if (budget < 0)
        {
            throw new ArgumentOutOfRangeException(nameof(budget), budget, "The budget must be 0 bytes or more, or null.");
        }

        _budget = budget is { } limit ? new Budget(limit, Budget.Process) : Budget.Process;
    }

    /// <summary>Makes a pool.</summary>
    /// <param name="options">Its owner, which becomes its name in messages, events and metrics: <c>kestrel</c>, then <c>kestrel#2</c> and
    /// so on for as many as live at a time. Null, or without an owner: the name of the pool's type.</param>
    /// <returns>A <see cref="SlabMemoryPool{T}"/> of blocks of 4,096 bytes. Its caller disposes it.</returns>
    public MemoryPool<byte> Create(MemoryPoolOptions? options = null) =>
        new SlabMemoryPool<byte>(BlockBytes, _budget, string.IsNullOrWhiteSpace(options?.Owner) ? null : options.Owner);
}
