namespace Tidepool;

/// <summary>What a buffer writer handed out and may be advanced over.</summary>
internal static class HandedOut
{
    /// <summary>Refuses to advance by more than was handed out; by 0 is always allowed.</summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException"><paramref name="count"/> is above <paramref name="handed"/>.</exception>
    internal static void Check(int count, int handed)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count > handed)
        {
            throw new InvalidOperationException(
                $"Cannot advance by {count} elements: {handed} were handed out by GetMemory or GetSpan and not yet advanced over.");
        }
    }
}
