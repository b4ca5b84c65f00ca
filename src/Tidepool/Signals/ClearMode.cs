namespace Tidepool;

/// <summary>When a pool zeroes the buffers of types that hold no references. Buffers of types that do are always cleared on return.</summary>
public enum ClearMode
{
    /// <summary>Never: a rented buffer holds what its last renter left, as with <see cref="System.Buffers.ArrayPool{T}"/>.</summary>
    Never,

    /// <summary>The rented length is zeroed when it is rented.</summary>
    OnRent,

    /// <summary>The rented length is zeroed when it is returned.</summary>
    OnReturn,
}
