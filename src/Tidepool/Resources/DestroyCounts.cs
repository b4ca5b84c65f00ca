using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>One counter per <see cref="DestroyReason"/>; a value, so that statistics are a snapshot.</summary>
[InlineArray(Reasons)]
internal struct DestroyCounts : IEquatable<DestroyCounts>
{
    internal const int Reasons = (int)DestroyReason.Shutdown + 1;

    private long _first;

    public readonly bool Equals(DestroyCounts other) => ((ReadOnlySpan<long>)this).SequenceEqual(other);

    public override readonly bool Equals(object? obj) => obj is DestroyCounts other && Equals(other);

    public override readonly int GetHashCode() => Sum().GetHashCode();

    internal readonly long Sum()
    {
        long sum = 0;
        foreach (long count in (ReadOnlySpan<long>)this)
        {
            sum += count;
        }

        return sum;
    }
}
