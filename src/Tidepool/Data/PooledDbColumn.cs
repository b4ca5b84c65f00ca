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

    /// <summary>Begins a read, which holds the session: one that is closed meanwhile, by another thread, is not used again.</summary>
    internal readonly Hold Enter() => !_isEnded && reader.TryEnter() is { } session
        ? new Hold(reader, native, session)
        : throw new ObjectDisposedException(typeof(T).Name);

    internal void End()
    {
        DbSession? session = _isEnded ? null : reader.TryEnter();
        _isEnded = true;
        if (session is null)
        {
            return;
        }

        try
        {
            native.Dispose();
        }
        finally
        {
            reader.Exit(session);
            reader.Unregister(native);
        }
    }

    /// <summary>A read of the column, until it is disposed.</summary>
    internal readonly struct Hold(PooledDbDataReader reader, T native, DbSession session) : IDisposable
    {
        internal T Native => native;

        public void Dispose() => reader.Exit(session);
    }
}
