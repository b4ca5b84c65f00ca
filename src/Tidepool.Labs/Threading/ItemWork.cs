using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>What one item does.</summary>
internal static class ItemWork
{
    /// <summary>Nothing.</summary>
    public const string Empty = "empty";

    /// <summary>Computes for 100 us.</summary>
    public const string Compute = "100 us CPU";

    /// <summary>Blocks its thread for 10 ms.</summary>
    public const string Sleep = "10 ms sleep";

    /// <summary>Awaits 10 ms and holds no thread meanwhile.</summary>
    public const string Delay = "10 ms async delay";

    private static readonly TimeSpan Computing = TimeSpan.FromMicroseconds(100);
    private static readonly TimeSpan Waiting = TimeSpan.FromMilliseconds(10);

    /// <summary>The work of an item that does not await.</summary>
    public static Action Of(string work) => work switch
    {
        Empty => static () => { },
        Compute => static () =>
        {
            for (long start = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(start) < Computing;)
            {
                Thread.SpinWait(1);
            }
        },
        Sleep => static () => Thread.Sleep(Waiting),
        _ => throw new ArgumentException($"There is no work '{work}' that does not await.", nameof(work)),
    };

    /// <summary>Runs an item that awaits.</summary>
    public static Task DelayAsync() => Task.Delay(Waiting);
}
