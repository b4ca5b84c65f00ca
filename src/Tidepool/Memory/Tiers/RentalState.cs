using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// What a ticket refers to: a fixed record whose generation says whether a rental is out, and which one. Even is idle, odd is leased.
/// </summary>
internal abstract class RentalState
{
    internal TicketState State;

    protected RentalState() => State.Generation = Random.Shared.Next() << 1;

    /// <summary>Whether a rental is out.</summary>
    internal bool IsLeased => (Volatile.Read(ref State.Generation) & 1) != 0;

    /// <summary>Begins a rental of an idle record that the caller holds.</summary>
    /// <returns>The generation of its ticket, odd.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal int Begin()
    {
        int generation = State.Generation + 1;
        State.Generation = generation;
        return generation;
    }

    /// <summary>Whether the ticket of <paramref name="generation"/> is still out.</summary>
    internal bool IsActive(int generation)
    {
        long seen = Volatile.Read(ref State.Word);
        return TicketState.GenerationOf(seen) == generation && TicketState.PostedOf(seen) != generation;
    }

    /// <summary>
    /// Ends the rental of <paramref name="generation"/> where the fast path could not. Implemented by the pool that owns the record.
    /// </summary>
    /// <param name="generation">The ticket's generation.</param>
    /// <param name="length">The rented length in elements.</param>
    /// <param name="companion">A memory owner that may be reused once the rental has ended, or null.</param>
    /// <returns>False when the ticket was retired already; nothing was changed then.</returns>
    internal abstract bool Return(int generation, int length, object? companion);

    /// <summary>Counts a use of a retired ticket. Throws for a use, and for a return where the pool's checks ask for it.</summary>
    /// <param name="kind"><see cref="MisuseKind.DoubleReturn"/>, <see cref="MisuseKind.StaleDispose"/> or
    /// <see cref="MisuseKind.UseAfterReturn"/>.</param>
    internal abstract void OnRetired(MisuseKind kind);
}
