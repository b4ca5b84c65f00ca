namespace Tidepool.Models.Barriers;

/// <summary>
/// The disposal of a stream (thread 0) meets a change (thread 1): the disposal takes the core and asks for changes, the change counts
/// itself and asks whether the stream still has the core. At most one of the two may go on.
/// </summary>
/// <param name="isLease">Whether a lease ends the stream: the locked instruction is on its ticket, a plain store takes the core.</param>
/// <param name="asksTicket">Whether the change asks for the ticket too.</param>
internal sealed class DisposalProtocol(bool isLease, bool asksTicket) : Protocol
{
    private const int Ticket = 0;
    private const int Core = 1;
    private const int Changes = 2;
    private const int End = 9;
    private const int Released = 1;
    private const int Changed = 2;

    protected override string? Fault(BufferedMachine state) =>
        state.Updates == (Released | Changed) ? "a core is changed and released" : null;

    protected override BufferedMachine? Step(int thread, BufferedMachine state) => thread == 0 ? Disposal(state) : Change(state);

    private BufferedMachine? Disposal(BufferedMachine state) => state.OwnerAt switch
    {
        0 => Locked(0, isLease ? Ticket : Core, state)?.Goto(0, isLease ? 1 : 2),
        1 => state.Store(0, Core, 1).Goto(0, 2),
        2 => state.Goto(0, state.Read(0, Changes) == 0 ? 3 : End),
        3 => (state with { Updates = state.Updates | Released }).Goto(0, End),
        _ => null,
    };

    private BufferedMachine? Change(BufferedMachine state) => state.VisitorAt switch
    {
        0 => Locked(1, Changes, state)?.Goto(1, 1),
        1 => state.Goto(1, state.Read(1, Core) == 0 ? 2 : End),
        2 => state.Goto(1, asksTicket && state.Read(1, Ticket) != 0 ? End : 3),
        3 => (state with { Updates = state.Updates | Changed }).Goto(1, End),
        _ => null,
    };

    /// <summary>A store that reaches memory at once, after all others of its thread.</summary>
    private static BufferedMachine? Locked(int thread, int variable, BufferedMachine state) =>
        state.IsDrained(thread) ? state.Store(thread, variable, 1).Drain(thread) : null;
}
