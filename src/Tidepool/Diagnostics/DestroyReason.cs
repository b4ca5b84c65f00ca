namespace Tidepool;

/// <summary>Why a pool ended a resource. Each ended resource has exactly one reason.</summary>
public enum DestroyReason
{
    /// <summary>It was idle for longer than <c>IdleTimeout</c>.</summary>
    Idle,

    /// <summary>Its lifetime was over: <c>MaxLifetime</c>, or a renewal.</summary>
    Lifetime,

    /// <summary>Its renter marked it, or the policy's <c>IsBroken</c> said so.</summary>
    Broken,

    /// <summary>Its reset failed or threw.</summary>
    ResetFailed,

    /// <summary>Its validation failed or threw.</summary>
    ValidationFailed,

    /// <summary>Its keep-alive threw.</summary>
    KeepAliveFailed,

    /// <summary>The pool was cleared after the resource was created, or after its creation began.</summary>
    Cleared,

    /// <summary>The pool was made smaller.</summary>
    Resized,

    /// <summary>Another key of a keyed pool needed its place.</summary>
    Stolen,

    /// <summary>
    /// An operation on it took longer than it may, so the pool gave up its place; it is destroyed when the operation ends.
    /// </summary>
    Abandoned,

    /// <summary>Its lease was dropped without being returned, and the garbage collector found it.</summary>
    Leaked,

    /// <summary>The pool was shut down.</summary>
    Shutdown,
}
