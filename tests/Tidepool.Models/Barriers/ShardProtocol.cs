namespace Tidepool.Models.Barriers;

/// <summary>
/// The shard protocol as two little programs for <see cref="BufferedMachine"/>. Both add one to the same count while they are inside.
/// </summary>
/// <param name="hasBarrier">Whether the visitor calls the process-wide barrier.</param>
/// <param name="barrierComesFirst">Whether it does so before it has asked the owner to stay out.</param>
/// <param name="closes">Whether the visitor waits for the owner and stays, instead of giving up when the owner is inside.</param>
internal sealed class ShardProtocol(bool hasBarrier, bool barrierComesFirst = false, bool closes = false) : Protocol
{
    private const int Busy = 0;
    private const int Stop = 1;
    private const int Count = 2;
    private const int Rounds = 2;
    private const int OwnerSteps = 5;
    private const int OwnerInside = 2;
    private const int OwnerEnd = OwnerSteps * Rounds;
    private const int VisitorInside = 4;
    private const int VisitorEnd = 6;

    private static bool IsInside(int thread, BufferedMachine state) =>
        thread == 0
            ? state.OwnerAt < OwnerEnd && state.OwnerAt % OwnerSteps is >= OwnerInside and < OwnerSteps - 1
            : state.VisitorAt is >= VisitorInside and < VisitorEnd - 1;

    protected override string? Fault(BufferedMachine state)
    {
        if (IsInside(0, state) && IsInside(1, state))
        {
            return "both are inside";
        }

        bool ended = state.OwnerAt >= OwnerEnd && state.VisitorAt >= VisitorEnd && state.IsDrained(0) && state.IsDrained(1);
        return ended && state.Read(0, Count) != state.Updates ? "an update was lost" : null;
    }

    protected override BufferedMachine? Step(int thread, BufferedMachine state) => thread == 0
        ? state.OwnerAt < OwnerEnd ? Owner(state) : null
        : state.VisitorAt < VisitorEnd ? Visitor(state) : null;

    private static BufferedMachine Owner(BufferedMachine state)
    {
        int at = state.OwnerAt;
        int round = at - (at % OwnerSteps);
        switch (at % OwnerSteps)
        {
            case 0:
                return state.Store(0, Busy, 1).Goto(0, at + 1);
            case 1: // reads Stop: stays outside unless it is 0
                return state.Load(0, Stop).Goto(0, state.Read(0, Stop) == 0 ? at + 1 : round + OwnerSteps - 1);
            case 2:
                return state.Load(0, Count).Goto(0, at + 1);
            case 3:
                return (state.Store(0, Count, state.Register(0) + 1) with { Updates = state.Updates + 1 }).Goto(0, at + 1);
            default:
                return state.Store(0, Busy, 0).Goto(0, at + 1);
        }
    }

    private BufferedMachine? Visitor(BufferedMachine state)
    {
        switch (state.VisitorAt)
        {
            case 0: // a planted bug: the barrier in the wrong place
                return (barrierComesFirst ? state.DrainAll() : state).Goto(1, 1);
            case 1: // a locked compare-and-swap leaves nothing in its thread's own buffer
                return state.Store(1, Stop, 1).Goto(1, 2) is var stopped && state.IsDrained(1) ? stopped.Drain(1) : null;
            case 2:
                return (hasBarrier && !barrierComesFirst ? state.DrainAll() : state).Goto(1, 3);
            case 3: // reads Busy: gives up or waits when the owner is inside
                return state.Read(1, Busy) == 0 ? state.Load(1, Count).Goto(1, 4) : closes ? null : state.Goto(1, 5);
            case 4:
                return (state.Store(1, Count, state.Register(1) + 1) with { Updates = state.Updates + 1 }).Goto(1, closes ? VisitorEnd : 5);
            default:
                return state.Store(1, Stop, 0).Goto(1, VisitorEnd);
        }
    }
}
