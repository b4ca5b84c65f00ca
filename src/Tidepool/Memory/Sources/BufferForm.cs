namespace Tidepool;

/// <summary>What the buffers of a source are.</summary>
public enum BufferForm
{
    /// <summary>Each buffer is one whole array: it can be rented as an array, as a segment and as a lease.</summary>
    WholeArray,

    /// <summary>A buffer is a part of an array: it can be rented as a lease and seen as a segment.</summary>
    ArrayPart,

    /// <summary>A buffer is native memory: it can be rented as a lease; it has no segment.</summary>
    Native,
}
