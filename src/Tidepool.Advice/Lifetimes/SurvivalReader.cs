using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Tidepool.Advice;

/// <summary>Reads what a process recorded of its collections, and what became of the samples of the session with stacks.</summary>
internal static class SurvivalReader
{
    /// <summary>Two sessions write one allocation microseconds apart; their clocks are set milliseconds apart at worst.</summary>
    private static readonly TimeSpan Apart = TimeSpan.FromMilliseconds(50);

    /// <summary>Reads a recording.</summary>
    /// <param name="file">The file of the session.</param>
    /// <param name="seconds">How long the session was on.</param>
    /// <param name="samples">The samples to follow. Each is found again by its address, thread, size and time.</param>
    public static SurvivalRecording Read(string file, double seconds, IReadOnlyList<RecordedSample> samples)
    {
        var wanted = samples.ToLookup(static sample => (sample.Address, sample.Thread, sample.Size));
        var followed = new Dictionary<RecordedSample, LifetimeTracker.Followed>(ReferenceEqualityComparer.Instance);
        var tracker = new LifetimeTracker();
        using var source = new EventPipeEventSource(file);
        double paused = 0;
        PauseEvents.Listen(source, pause => paused += pause / 1000);
        Listen(source, tracker);
        source.Clr.AllocationSampling += written =>
        {
            RecordedSample? sample = wanted[(written.Address, written.ThreadID, written.ObjectSize)].FirstOrDefault(
                one => (one.Time - written.TimeStamp).Duration() < Apart && !followed.ContainsKey(one));
            if (sample is not null)
            {
                followed.Add(sample, tracker.Add(sample.Address, sample.IsLarge));
            }
        };
        Process(source);
        var window = new LifetimeWindow
        {
            Seconds = seconds,
            Collections = tracker.Collections,
            StreamBytes = new FileInfo(file).Length,
            PausedWithin = paused / seconds,
            LostEvents = source.EventsLost,
        };
        IEnumerable<KeyValuePair<RecordedSample, LifetimeTracker.Followed>> known = window.LostEvents > 0 ? [] : followed;
        return new SurvivalRecording(
            window,
            new Dictionary<RecordedSample, Lifetime>(
                known.Select(static one => KeyValuePair.Create(one.Key, one.Value.Lifetime)), ReferenceEqualityComparer.Instance));
    }

    /// <summary>The seconds that collections held a process up in a recording.</summary>
    public static double PausedSeconds(string file)
    {
        using var source = new EventPipeEventSource(file);
        double paused = 0;
        PauseEvents.Listen(source, pause => paused += pause / 1000);
        Process(source);
        return paused;
    }

    private static void Listen(EventPipeEventSource source, LifetimeTracker tracker)
    {
        source.Clr.GCStart += written => tracker.Start(written.Count, written.Depth, written.Type == GCType.BackgroundGC);
        source.Clr.GCStop += written => tracker.End(written.Count);
        source.Clr.GCGenerationRange += written =>
            tracker.Range(written.Generation, written.RangeStart, (ulong)written.RangeReservedLength);
        source.Clr.GCBulkSurvivingObjectRanges += written => tracker.Survive(
            Enumerable.Range(0, written.Count).Select(written.Values).Select(
                static range => (range.RangeBase, range.RangeBase, (ulong)range.RangeLength)));
        source.Clr.GCBulkMovedObjectRanges += written => tracker.Survive(
            Enumerable.Range(0, written.Count).Select(written.Values).Select(
                static range => (range.OldRangeBase, range.NewRangeBase, (ulong)range.RangeLength)));
    }

    private static void Process(EventPipeEventSource source)
    {
        try
        {
            source.Process();
        }
        catch (Exception failure) when (failure is IOException or FormatException or InvalidOperationException)
        {
            // The process has ended, and what it had written last is incomplete.
        }
    }
}
