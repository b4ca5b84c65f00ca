namespace Tidepool;

/// <summary>Thrown when a renter misuses a pool: the message says what was done, on which pool, and what to do instead.</summary>
public sealed class PoolMisuseException : InvalidOperationException
{
    /// <summary>Makes the exception.</summary>
    /// <param name="kind">What was done.</param>
    /// <param name="poolName">The pool it was done to.</param>
    /// <param name="message">The whole message.</param>
    public PoolMisuseException(MisuseKind kind, string poolName, string message)
        : base(message)
    {
        Kind = kind;
        PoolName = poolName;
    }

    /// <summary>What was done.</summary>
    public MisuseKind Kind { get; }

    /// <summary>The name of the pool.</summary>
    public string PoolName { get; }
}
