using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// Marks the places where threads may interleave. The calls exist only in the model build (<c>TIDEPOOL_MODEL</c>), where a deterministic
/// scheduler decides at each of them which thread goes on; everywhere else the compiler removes them.
/// </summary>
internal static class Schedule
{
    /// <summary>The scheduler of the model build; null lets threads run free.</summary>
    internal static Action<string>? Hook { get; set; }

    [Conditional("TIDEPOOL_MODEL")]
    internal static void Point(string place) => Hook?.Invoke(place);

    /// <summary>Where a model keeps what awaiting callers do next, until one of its threads does it; null is the thread pool.</summary>
    internal static Action<Action>? Later { get; set; }

    /// <summary>
    /// How the awaiters of a task go on: on the thread pool, and with <see cref="Later"/> on the thread that completes it.
    /// </summary>
    internal static TaskCreationOptions Continuations =>
        Later is null ? TaskCreationOptions.RunContinuationsAsynchronously : TaskCreationOptions.None;

    /// <summary>One turn of a wait for another thread.</summary>
    internal static void Spin(ref SpinWait spin)
    {
#if TIDEPOOL_MODEL
        if (Hook is { } hook)
        {
            hook("spin");
            return;
        }
#endif
        spin.SpinOnce();
    }
}
