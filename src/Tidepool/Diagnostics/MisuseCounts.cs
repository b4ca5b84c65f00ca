using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>One counter per <see cref="MisuseKind"/>; a value, so that statistics are a snapshot.</summary>
[InlineArray(Kinds)]
internal struct MisuseCounts : IEquatable<MisuseCounts>
{
    internal const int Kinds = (int)MisuseKind.StaleDispose + 1;

    private long _first;

    internal long this[MisuseKind kind] => this[(int)kind];

    public readonly bool Equals(MisuseCounts other) => ((ReadOnlySpan<long>)this).SequenceEqual(other);

    public override readonly bool Equals(object? obj) => obj is MisuseCounts other && Equals(other);

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

    /// <summary>The kinds that were seen, with how often: <c>DoubleReturn=2 NeverReturned=1</c>.</summary>
    internal readonly string Text()
    {
        var text = new System.Text.StringBuilder();
        ReadOnlySpan<long> counts = this;
        for (int kind = 0; kind < Kinds; kind++)
        {
            if (counts[kind] > 0)
            {
                text.Append(text.Length == 0 ? "" : " ").Append(MisuseText.Names[kind]).Append('=').Append(counts[kind]);
            }
        }

        return text.ToString();
    }

    internal void Increment(MisuseKind kind) => Interlocked.Increment(ref this[(int)kind]);
}
