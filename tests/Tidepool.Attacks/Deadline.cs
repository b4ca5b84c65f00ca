using System.Diagnostics;

namespace Tidepool.Attacks;

/// <summary>When an attack is over.</summary>
internal readonly struct Deadline(TimeSpan time)
{
    /// <summary>No attack runs longer in one process.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(2);

    private readonly long _end = Stopwatch.GetTimestamp() + (long)(time.TotalSeconds * Stopwatch.Frequency);

    /// <summary>The time is over.</summary>
    public bool IsOver => Stopwatch.GetTimestamp() >= _end;
}
