namespace Tidepool;

/// <summary>The record of a leased object: the object and the generation of its ticket.</summary>
/// <remarks>
/// Other than a buffer's slot it has no home: a return, on any thread, retires the ticket by one compare-and-swap and has the object to
/// itself from then on, because resetting it is foreign code that must run once, at once, and unseen by other threads.
/// </remarks>
internal abstract class ObjectSlot<T> : RentalState
    where T : class
{
    /// <summary>The object; written once, before anybody else can see the slot.</summary>
    internal T Item = null!;

    /// <summary>Ends the rental of <paramref name="generation"/> and takes the object back.</summary>
    /// <returns>False when the ticket was retired already; nothing was changed then.</returns>
    internal abstract bool TryReturn(int generation);

    /// <summary>Ends the rental of <paramref name="generation"/> and hands the object over for good.</summary>
    /// <returns>False when the ticket was retired already; nothing was changed then.</returns>
    internal abstract bool TryDetach(int generation);

    internal sealed override bool Return(int generation, int length, object? companion) => TryReturn(generation);

    /// <summary>
    /// Retires the ticket of <paramref name="generation"/>: of all callers, on all threads, one is told true and holds the idle record.
    /// </summary>
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.AggressiveInlining)]
    protected bool TryEnd(int generation)
    {
        Schedule.Point("end ticket");
        return Interlocked.CompareExchange(ref State.Generation, generation + 1, generation) == generation;
    }
}
