using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The fixed record of one leased thing: it lives as long as its item and carries the ticket state. A lease is {slot, generation}.
/// </summary>
/// <remarks>
/// States of a slot, by <see cref="Generation"/> g and <see cref="Mail"/>:
/// <list type="bullet">
/// <item><b>idle</b>: g is even; the slot lies in a tier or is in one thread's hands.</item>
/// <item><b>leased</b>: g is odd and equals the generation of exactly one ticket; Mail is 0, or a stale posting of an older generation.</item>
/// <item><b>posted</b>: returned by a thread other than the home thread: g is odd, Mail = g, and the slot is linked in an inbox.</item>
/// </list>
/// Who may write: <see cref="Generation"/> only a thread that holds the idle slot, the thread that owns <see cref="Home"/> inside its busy
/// section, a thread that has paused <see cref="Home"/>, or, once Home is closed, the thread whose claim of <see cref="Mail"/> succeeded.
/// <see cref="Mail"/> goes from 0 (or a stale posting) to g by compare-and-swap only, and back to 0 only by whoever may write the generation.
/// <see cref="Home"/> changes only while the slot is idle and in one thread's hands. Generations start at random, so that a torn or forged
/// ticket, or one that outlived 2^31 rentals, matches with odds of 1 in 2^31.
/// </remarks>
internal abstract class Slot
{
    internal int Generation = Random.Shared.Next() << 1;
    internal int Mail;

    /// <summary>The number of slots from this one to the end of the inbox list; written before the slot is pushed.</summary>
    internal int Depth;

    internal Magazine Home = Magazine.None;
    internal Slot? Next;

    /// <summary>A thing that travels home with a posted slot (a memory owner that will be reused).</summary>
    internal object? Companion;

    /// <summary>Elements to clear when a posted rental is settled; written by the poster before it posts.</summary>
    internal int PendingClear;

    /// <summary>Whether a rental is out.</summary>
    internal bool IsLeased => (Volatile.Read(ref Generation) & 1) != 0;

    /// <summary>Begins a rental of an idle slot that the caller holds.</summary>
    /// <returns>The generation of its ticket, odd.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal int Begin()
    {
        int generation = Generation + 1;
        Generation = generation;
        return generation;
    }

    /// <summary>Whether the ticket of <paramref name="generation"/> is still out.</summary>
    internal bool IsActive(int generation) => Volatile.Read(ref Generation) == generation && Volatile.Read(ref Mail) != generation;

    /// <summary>Clears <see cref="PendingClear"/> elements of a slot that was just settled.</summary>
    internal abstract void ClearPending();

    /// <summary>Counts, and where the pool's checks ask for it throws, a use of a retired ticket.</summary>
    /// <param name="kind"><see cref="MisuseKind.DoubleReturn"/> or <see cref="MisuseKind.StaleDispose"/>.</param>
    internal abstract void OnRetired(MisuseKind kind);

    /// <summary>
    /// Ends the rental of <paramref name="generation"/> where the fast path could not. Implemented by the pool that owns the slot.
    /// </summary>
    /// <param name="generation">The ticket's generation.</param>
    /// <param name="length">The rented length in elements.</param>
    /// <param name="companion">A memory owner that may be reused once the rental has ended, or null.</param>
    /// <returns>False when the ticket was retired already; nothing was changed then.</returns>
    internal abstract bool Return(int generation, int length, object? companion);

    /// <summary>Claims the right to end the rental of <paramref name="generation"/> against all other threads that are not home.</summary>
    /// <param name="generation">The ticket's generation.</param>
    /// <param name="linked">True when a stale posting still holds the slot in an inbox: then it must not be linked again.</param>
    /// <returns>False when the ticket is retired, or another thread claimed it first.</returns>
    internal bool TryClaim(int generation, out bool linked)
    {
        linked = false;
        if (Volatile.Read(ref Generation) != generation)
        {
            return false;
        }

        int seen = Volatile.Read(ref Mail);
        while (true)
        {
            Schedule.Point("claim");
            if (seen == generation)
            {
                return false;
            }

            int found = Interlocked.CompareExchange(ref Mail, generation, seen);
            if (found == seen)
            {
                linked = seen != 0;
                return true;
            }

            seen = found;
        }
    }

    /// <summary>Ends a posted rental. The caller may write the generation and has unlinked the slot.</summary>
    /// <returns>False when the posting lost against a return by the home thread: the slot is in its hands and must be left alone.</returns>
    internal bool TrySettle()
    {
        Schedule.Point("settle");
        int posted = Interlocked.Exchange(ref Mail, 0);
        if (posted != Generation)
        {
            return false;
        }

        Generation = posted + 1;
        if (PendingClear != 0)
        {
            ClearPending();
        }

        return true;
    }
}
