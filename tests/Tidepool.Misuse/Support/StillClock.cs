using System.Reflection;

namespace Tidepool.Misuse.Support;

/// <summary>Keeps the clock that trims from beginning an epoch: what rests would go where another thread rents, or to its source.</summary>
internal static class StillClock
{
    private static readonly Lock Gate = (Lock)typeof(Trimmer).GetField("TrimGate", BindingFlags.Static | BindingFlags.NonPublic)!.GetValue(null)!;

    /// <summary>Waits for an epoch that is under way; until the scope ends on the same thread there is no other.</summary>
    internal static Lock.Scope Hold() => Gate.EnterScope();
}
