namespace Tidepool;

/// <summary>A lease of any kind without its type: {slot, generation}, and the length that a return may have to clear.</summary>
internal readonly record struct Ticket(RentalState Slot, int Generation, int Length)
{
    /// <summary>Ends the rental; a retired ticket is only counted.</summary>
    internal void Dispose()
    {
        if (!Slot.Return(Generation, Length, null))
        {
            Slot.OnRetired(MisuseKind.StaleDispose);
        }
    }
}
