using System.Runtime.CompilerServices;
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
    private const int PostedShift = 32;

    [FieldOffset(0)]
    internal long Word;

    [FieldOffset(0)]
    internal int Generation;

    [FieldOffset(sizeof(int))]
    internal int Posted;

    /// <summary>
    /// Combines the halves in a register, in little-endian order. The load of a whole after two stores of halves would wait until
    /// everything that was stored before has reached the cache.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static long Of(int generation, int posted) => (long)(((ulong)(uint)posted << PostedShift) | (uint)generation);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int GenerationOf(long word) => (int)word;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int PostedOf(long word) => (int)(word >> PostedShift);
}
