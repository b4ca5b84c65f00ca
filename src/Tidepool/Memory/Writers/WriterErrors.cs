namespace Tidepool;

/// <summary>What buffer writers refuse alike.</summary>
internal static class WriterErrors
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

    /// <summary>What a disposed writer throws.</summary>
    internal static ObjectDisposedException Disposed<T>(string writer) =>
        new($"{writer}<{typeof(T).Name}>", "The writer was disposed and its memory returned. Take what was written before.");
}
