using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// The generation of a slot and the one that was posted, as one word: halves for the home thread, the whole for the compare-and-swap of
/// all others.
/// </summary>
/// <remarks>
/// The home thread stores only the half <see cref="Generation"/>. Against a compare-and-swap of the whole word such a store is atomic: it
/// comes wholly before (then the swap fails) or wholly after it (then the other half keeps what was swapped in).
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = sizeof(long))]
internal struct TicketState
{
    [FieldOffset(0)]
    internal long Word;

    [FieldOffset(0)]
    internal int Generation;

    [FieldOffset(sizeof(int))]
    internal int Posted;
}
