using System.Globalization;

namespace Tidepool;

/// <summary>How large a pool should be for a load: <see cref="PoolLoad.Advise"/>.</summary>
public readonly record struct PoolSizeAdvice
{
    /// <summary>The size: that for the arrivals, but no more than is useful.</summary>
    public int Size { get; init; }

    /// <summary>The smallest size in which so few rentals wait as was asked for, 1 or more.</summary>
    public int ForArrivals { get; init; }

    /// <summary>The share of rentals that wait in a pool of <see cref="ForArrivals"/>.</summary>
    public double WaitingShare { get; init; }

    /// <summary>
    /// Beyond this size more resources make each answer slower and bring no more of them, because the server behind is busy; null where
    /// nothing says so.
    /// </summary>
    public int? UsefulSize { get; init; }

    /// <summary>The advice in one sentence.</summary>
    public override string ToString()
    {
        string size = string.Create(
            CultureInfo.InvariantCulture, $"{ForArrivals} let {WaitingShare:P2} of the rentals wait");
        return UsefulSize is { } useful
            ? $"{size}; beyond {useful.ToString(CultureInfo.InvariantCulture)} the server makes each answer slower, and no more of them."
            : size + ".";
    }
}
