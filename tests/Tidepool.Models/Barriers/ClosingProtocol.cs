namespace Tidepool.Models.Barriers;

/// <summary>
/// A post that meets the closing of its inbox: the poster writes the place and then asks whether the inbox is closed; the closer closes it
/// and then looks at the places. One of the two must collect.
/// </summary>
/// <param name="posterHasFence">Whether the poster's write has reached memory before it asks.</param>
/// <param name="closerHasBarrier">Whether the closer's barrier is process-wide and not only its own.</param>
internal sealed class ClosingProtocol(bool posterHasFence, bool closerHasBarrier) : Protocol
{
    private const int Place = 0;
    private const int IsClosed = 1;
    private const int End = 4;

    protected override string? Fault(BufferedMachine state) =>
        state.OwnerAt == End && state.VisitorAt == End && state.Updates == 0 ? "nobody collects" : null;

    protected override BufferedMachine? Step(int thread, BufferedMachine state) => thread == 0 ? Poster(state) : Closer(state);

    private BufferedMachine? Poster(BufferedMachine state) => state.OwnerAt switch
    {
        0 => state.Store(0, Place, 1).Goto(0, 1),
        1 => posterHasFence && !state.IsDrained(0) ? null : state.Goto(0, 2),
        2 => state.Goto(0, state.Read(0, IsClosed) == 0 ? End : 3),
        3 => Collect(0, state),
        _ => null,
    };

    private BufferedMachine? Closer(BufferedMachine state) => state.VisitorAt switch
    {
        0 => state.Store(1, IsClosed, 1).Goto(1, 1),
        1 => closerHasBarrier ? state.DrainAll().Goto(1, 2) : state.IsDrained(1) ? state.Goto(1, 2) : null,
        2 => state.Goto(1, 3),
        3 => Collect(1, state),
        _ => null,
    };

    private static BufferedMachine Collect(int thread, BufferedMachine state) =>
        (state with { Updates = state.Updates + state.Read(thread, Place) }).Goto(thread, End);
}
