using System.Buffers;

namespace Tidepool;

/// <summary>Where the memory of a segment comes from, and so what has to be done when the stream gives it up.</summary>
internal enum SegmentKind
{
    /// <summary>The array that stays with the core while it waits idle.</summary>
    Attached,

    /// <summary>A lease of a buffer pool.</summary>
    Leased,

    /// <summary>An array of an <see cref="ArrayPool{T}"/>.</summary>
    Rented,

    /// <summary>Memory of the caller: never returned and, unless the caller gave it for writing, never written to.</summary>
    Foreign,
}
