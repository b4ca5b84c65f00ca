using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Packs the generation and the length of a rental into one word.</summary>
/// <remarks>
/// So no thread ever reads the one without the other. The generation is the lower half: a return needs nothing else, and reads it without
/// a shift.
/// </remarks>
internal static class RentalWord
{
    private const int LengthShift = 32;

    /// <summary>Whether the word takes two loads, as in a process of 32 bits: then the length is compared with the buffer's.</summary>
    /// <remarks>A constant to the compiler.</remarks>
    internal static bool MayTear => nint.Size < sizeof(ulong);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong Of(int generation, int length) => ((ulong)(uint)length << LengthShift) | (uint)generation;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int GenerationOf(ulong rental) => (int)rental;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int LengthOf(ulong rental) => (int)(rental >> LengthShift);
}
