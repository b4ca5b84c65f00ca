namespace Tidepool;

/// <summary>Reports one misuse or leak that a pool has noticed.</summary>
/// <remarks>Immutable. <see cref="ToString"/> is the message with the name of the product before it, as the log has it.</remarks>
public sealed class MisuseReport
{
    internal MisuseReport(MisuseKind kind, string poolName, string message, long leftOut) =>
        (Kind, PoolName, Message, LeftOut) = (kind, poolName, message, leftOut);

    /// <summary>What was done; <see cref="MisuseKind.NeverReturned"/> also for a lease that is overdue and may still come back.</summary>
    public MisuseKind Kind { get; }

    /// <summary>The name of the pool it was done to.</summary>
    public string PoolName { get; }

    /// <summary>What was done and what to do instead; where the place is known, with the frames of the caller.</summary>
    public string Message { get; }

    /// <summary>How many reports of this pool and kind were held back since the last one.</summary>
    public long LeftOut { get; }

    /// <summary>The message as one block of text.</summary>
    public override string ToString()
    {
        string more = LeftOut == 0 ? string.Empty : $"\n({LeftOut} more of this kind and pool were held back before this one.)";
        return $"Tidepool: {Message}{more}";
    }
}
