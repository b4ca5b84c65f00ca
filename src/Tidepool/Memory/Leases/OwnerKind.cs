namespace Tidepool;

/// <summary>What the disposal of a <see cref="PooledOwner{T}"/> does.</summary>
internal enum OwnerKind
{
    /// <summary>Returns the buffer.</summary>
    Owner,

    /// <summary>Returns the buffer, and the owner itself for the next rental.</summary>
    Reused,

    /// <summary>Nothing: the owner stands behind the memory of a lease, which returns the buffer.</summary>
    View,
}
