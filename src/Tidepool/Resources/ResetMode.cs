namespace Tidepool;

/// <summary>When a pool resets a resource between two renters.</summary>
public enum ResetMode
{
    /// <summary>
    /// After the return, which does not wait for it; the resource is available once it has ended. The reset begins on the returning thread. Where
    /// others rent synchronously and the lease was ended by <c>Dispose</c>, it is left to a thread that waits for it: one of the thread pool, or
    /// that of the next renter, whichever comes first.
    /// </summary>
    Background,

    /// <summary>
    /// In the return: <c>DisposeAsync</c> of the lease waits for it; <c>Dispose</c> uses <see cref="ResourcePolicy{T}.Reset"/>, or the background
    /// where the policy has no synchronous reset.
    /// </summary>
    OnReturn,

    /// <summary>Before the next renter gets it, within that renter's timeout.</summary>
    OnRent,

    /// <summary>Never.</summary>
    None,
}
