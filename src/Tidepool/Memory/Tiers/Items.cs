using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>The places of a magazine of buffers, inline in it. References of the pool's own items: never covariant.</summary>
[InlineArray(Capacity)]
internal struct Items
{
    internal const int Capacity = 14;

    private object? _first;

    /// <summary>
    /// The place <paramref name="index"/> of <paramref name="items"/>, without a bounds check: the caller knows 0 &lt;= index &lt;
    /// Capacity.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ref object? At(ref Items items, int index) => ref Unsafe.Add(ref Unsafe.As<Items, object?>(ref items), index);

    internal static Span<object?> Span(ref Items items) => MemoryMarshal.CreateSpan(ref Unsafe.As<Items, object?>(ref items), Capacity);

    /// <summary>Whether <paramref name="item"/> is one of the first <paramref name="count"/>.</summary>
    internal static bool Contains(ref Items items, object item, int count)
    {
        for (int i = 0; i < count; i++)
        {
            if (At(ref items, i) == item)
            {
                return true;
            }
        }

        return false;
    }
}
