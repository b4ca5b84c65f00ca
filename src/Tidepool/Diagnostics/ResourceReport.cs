namespace Tidepool;

/// <summary>Reports what has happened to the supply of a resource pool, or of a pool of connections.</summary>
/// <remarks>Immutable. <see cref="ToString"/> is the message with the name of the product before it, as the log has it.</remarks>
public sealed class ResourceReport
{
    internal ResourceReport(ResourceReportKind kind, string poolName, string key, string message) =>
        (Kind, PoolName, Key, Message) = (kind, poolName, key, message);

    /// <summary>What has happened.</summary>
    public ResourceReportKind Kind { get; }

    /// <summary>The name of the pool.</summary>
    public string PoolName { get; }

    /// <summary>The key of a keyed pool, at most 128 characters; empty for a pool without keys.</summary>
    public string Key { get; }

    /// <summary>What has happened, with the numbers of the pool.</summary>
    public string Message { get; }

    /// <summary>Why a creation failed; null for other kinds.</summary>
    public Exception? Exception { get; internal init; }

    /// <summary>How many reports of this pool and kind were held back since the last one.</summary>
    public long LeftOut { get; internal init; }

    /// <summary>The message as one block of text.</summary>
    public override string ToString()
    {
        string more = LeftOut == 0 ? string.Empty : $"\n({LeftOut} more of this kind and pool were held back before this one.)";
        return $"Tidepool: {Message}{more}";
    }
}

/// <summary>What has happened to the supply of a resource pool.</summary>
public enum ResourceReportKind
{
    /// <summary>A creation failed or took too long.</summary>
    CreateFailed,

    /// <summary>The first creation of a row failed: the pool pauses before it tries again.</summary>
    BackedOff,

    /// <summary>A creation succeeded after others had failed.</summary>
    Recovered,

    /// <summary>The pool was cleared, by the program or because an error ended all of its resources.</summary>
    Cleared,
}
