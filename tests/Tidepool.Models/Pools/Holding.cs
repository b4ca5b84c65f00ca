using System.Buffers;

namespace Tidepool.Models.Pools;

/// <summary>One rental that is out, in whatever form it was made.</summary>
internal sealed class Holding<T>(Ledger<T> ledger, int number, int length)
{
    internal Ledger<T> Ledger { get; } = ledger;

    /// <summary>What its buffer is marked with.</summary>
    internal int Number { get; } = number;

    internal BufferLease<T>? Lease { get; init; }

    internal T[]? Array { get; init; }

    internal IMemoryOwner<T>? Owner { get; init; }

    internal Span<T> Span => Lease is { } lease ? lease.Span : Array is { } array ? array.AsSpan(0, length) : Owner!.Memory.Span;

    internal void Return()
    {
        if (Lease is { } lease)
        {
            lease.Return();
        }
        else if (Array is { } array)
        {
            Ledger.Pool.AsArrayPool().Return(array, clearArray: true);
        }
        else
        {
            Owner!.Dispose();
        }
    }
}
