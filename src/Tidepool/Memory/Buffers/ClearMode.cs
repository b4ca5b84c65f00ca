namespace Tidepool;

/// <summary>When a pool zeroes its buffers, so that no renter sees what an earlier one left.</summary>
/// <remarks>
/// <para>A pool that clears zeroes all that a renter can reach: the whole buffer, also behind the rented length, through every way of
/// renting. New buffers are zero too. Elements of an array that are outside of the buffer (other blocks of a slab, padding of an aligned
/// buffer) are not touched.</para>
/// <para>Whatever the mode, leases, scopes and memory owners clear the rented elements of types that hold references when they are
/// returned, so that an idle buffer keeps no object alive. Arrays of <see cref="BufferPool{T}.AsArrayPool()"/> are then as their renters
/// left them.</para>
/// </remarks>
public enum ClearMode
{
    /// <summary>Never: a rented buffer holds what its last renter left, as with <see cref="System.Buffers.ArrayPool{T}"/>.</summary>
    Never,

    /// <summary>The buffer is zeroed when it is rented.</summary>
    OnRent,

    /// <summary>The buffer is zeroed when it is returned.</summary>
    OnReturn,
}
