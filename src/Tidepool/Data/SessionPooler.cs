namespace Tidepool.Data;

/// <summary>What pools sessions between this program and the server, such as PgBouncer.</summary>
public enum SessionPooler
{
    /// <summary>Not known: the pool looks for a pooler once, and warns when it finds one.</summary>
    Unknown,

    /// <summary>No pooler, or one that the program answers for: nothing is looked for.</summary>
    None,

    /// <summary>A pooler in session mode: resets and preparation work.</summary>
    /// <remarks>Each session keeps one connection of the server there.</remarks>
    Session,

    /// <summary>A pooler in transaction mode: nothing is reset or prepared.</summary>
    /// <remarks>Each transaction may have another connection of the server there.</remarks>
    Transaction,
}
