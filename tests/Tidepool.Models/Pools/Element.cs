namespace Tidepool.Models.Pools;

/// <summary>How buffers of a type are marked.</summary>
/// <param name="Stamp">A value for one rental, different from that of others.</param>
internal sealed record Element<T>(Func<int, T> Stamp)
{
    internal bool Marks(ReadOnlySpan<T> buffer, int number)
    {
        T stamp = Stamp(number);
        foreach (T value in buffer)
        {
            if (!EqualityComparer<T>.Default.Equals(value, stamp))
            {
                return false;
            }
        }

        return true;
    }
}
