using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>A number with a cache line of its own, and room behind it for the rest of the line that it began on.</summary>
/// <remarks>
/// The room is part of the struct, because the runtime lays out fields as it likes: structs behind all other fields. A field of padding
/// between two numbers ends up behind both.
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = 128)]
internal struct PaddedInt
{
    [FieldOffset(64)]
    internal int Value;
}
