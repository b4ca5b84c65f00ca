using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// What reads a column bit by bit: the provider's stream or text, which is reached only as long as its reader is, and until its end. A
/// part of its owner.
/// </summary>
/// <param name="reader">The reader that gave it.</param>
/// <param name="native">The provider's.</param>
[SuppressMessage("Design", "CA1001", Justification = "Its owner ends it.")]
internal struct PooledDbColumn<T>(PooledDbDataReader reader, T native)
    where T : class, IDisposable
{
    private bool _isEnded;

    internal readonly bool IsReachable => !_isEnded && reader.IsReachable;

    internal readonly T Native => IsReachable ? native : throw new ObjectDisposedException(typeof(T).Name);

    internal void End()
    {
        bool wasReachable = IsReachable;
        _isEnded = true;
        if (!wasReachable)
        {
            return;
        }

        try
        {
            native.Dispose();
        }
        finally
        {
            reader.Unregister(native);
        }
    }
}
