namespace Tidepool.Models.Pools;

/// <summary>What a program can do with a pool.</summary>
public enum OperationKind
{
    /// <summary>Rent a lease into a place; what lay there is returned.</summary>
    Rent,

    /// <summary>Rent an array.</summary>
    RentArray,

    /// <summary>Rent an owner that is reused.</summary>
    RentOwner,

    /// <summary>Return what lies in a place.</summary>
    Return,

    /// <summary>Move a lease to an owner.</summary>
    Move,

    /// <summary>Take a buffer out of the pool for good.</summary>
    Detach,

    /// <summary>Rent and return in one scope.</summary>
    Scope,

    /// <summary>Rent and return through a thread handle; one rental outlives it.</summary>
    Handle,

    /// <summary>Dispose a lease that was returned.</summary>
    DisposeAgain,

    /// <summary>Return a lease that was returned.</summary>
    ReturnAgain,

    /// <summary>Use a lease that was returned.</summary>
    UseAgain,

    /// <summary>Trim the pool.</summary>
    Trim,

    /// <summary>Let an epoch pass.</summary>
    Epoch,

    /// <summary>Let an epoch pass under memory pressure.</summary>
    Pressure,

    /// <summary>End the thread; another one takes its place.</summary>
    EndThread,

    /// <summary>Dispose the pool with whatever is out; another one takes its place.</summary>
    DisposePool,
}
