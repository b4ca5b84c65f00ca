using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>What a pool missed and dropped, by length, and what it would have served with more room. Thread-safe.</summary>
/// <remarks>
/// It exists only while a listener asks for it, beside the pool and not in it, and is told of misses and drops alone: a rental that an idle
/// item serves never comes here.
/// </remarks>
internal sealed class PoolShadow
{
    /// <summary>How many lengths above the longest that is kept are told apart; further ones are one class of length 0.</summary>
    internal const int MostUnkept = 64;

    private static ConditionalWeakTable<object, PoolShadow>? s_shadows;

    private readonly Lock _gate = new();
    private readonly SortedDictionary<(int Length, bool IsKept), Class> _classes = [];
    private int _unkept;

    /// <summary>The shadow of a pool; null while no listener asks.</summary>
    internal static PoolShadow? Of(object pool) =>
        TidepoolEventSource.IsOffered ? Volatile.Read(ref s_shadows)?.GetOrCreateValue(pool) : null;

    /// <summary>Begins to count, from nothing, or stops and forgets.</summary>
    internal static void Switch(bool on)
    {
        if (on != s_shadows is not null)
        {
            Volatile.Write(ref s_shadows, on ? [] : null);
        }
    }

    /// <summary>A rental found no idle item.</summary>
    /// <param name="length">The length of the item that was made, in elements.</param>
    /// <param name="bytes">Its bytes.</param>
    /// <param name="isKept">Whether the pool keeps items of that length.</param>
    internal void CountMissed(int length, long bytes, bool isKept)
    {
        lock (_gate)
        {
            Class found = Find(length, bytes, isKept);
            found.Missed++;
            found.Places?.CountMissed();
        }
    }

    /// <summary>Returned items found no room.</summary>
    /// <param name="length">Their length in elements.</param>
    /// <param name="bytes">The bytes of each.</param>
    /// <param name="count">How many.</param>
    internal void CountDropped(int length, long bytes, int count)
    {
        lock (_gate)
        {
            Class found = Find(length, bytes, isKept: true);
            found.Dropped += count;
            for (int i = 0; i < count; i++)
            {
                found.Places?.CountDropped();
            }
        }
    }

    /// <summary>What was counted so far, by length.</summary>
    internal ShadowClass[] Snapshot()
    {
        lock (_gate)
        {
            return
            [
                .. _classes.Select(static one => new ShadowClass(
                    one.Key.Length,
                    one.Value.Bytes,
                    one.Key.IsKept,
                    one.Value.Missed,
                    one.Value.Dropped,
                    one.Value.Places?.Served() ?? [])),
            ];
        }
    }

    private Class Find(int length, long bytes, bool isKept)
    {
        if (!isKept && _unkept >= MostUnkept && !_classes.ContainsKey((length, false)))
        {
            (length, bytes) = (0, 0);
        }

        if (!_classes.TryGetValue((length, isKept), out Class? found))
        {
            _unkept += isKept ? 0 : 1;
            found = new Class(bytes, isKept ? new ShadowPlaces() : null);
            _classes.Add((length, isKept), found);
        }

        return found;
    }

    private sealed class Class(long bytes, ShadowPlaces? places)
    {
        internal long Bytes { get; } = bytes;

        internal ShadowPlaces? Places { get; } = places;

        internal long Missed { get; set; }

        internal long Dropped { get; set; }
    }
}

/// <summary>One length of one pool, as its shadow counted it.</summary>
/// <param name="Length">In elements; 0 for all lengths that are not told apart.</param>
/// <param name="Bytes">The bytes of one item; 0 where they differ.</param>
/// <param name="IsKept">Whether the pool keeps items of that length.</param>
/// <param name="Missed">Rentals that found no idle item.</param>
/// <param name="Dropped">Returned items that found no room.</param>
/// <param name="Served">The misses that 1, 2, 4 ... 4096 further places would have served; empty where none are kept.</param>
internal readonly record struct ShadowClass(int Length, long Bytes, bool IsKept, long Missed, long Dropped, long[] Served);
