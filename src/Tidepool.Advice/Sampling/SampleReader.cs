using Microsoft.Diagnostics.Tracing.Etlx;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Tidepool.Advice;

/// <summary>A sampled object whose stack is still addresses, the innermost first. Equal stacks are one array.</summary>
internal sealed record RecordedSample
{
    /// <summary>The name of its type.</summary>
    public required string Type { get; init; }

    /// <summary>Its bytes on the heap, header included.</summary>
    public required long Size { get; init; }

    /// <summary>Whether it went to the large or the pinned object heap.</summary>
    public bool IsLarge { get; init; }

    /// <summary>The addresses of the code.</summary>
    public required ulong[] Stack { get; init; }

    /// <summary>Where it was put.</summary>
    public ulong Address { get; init; }

    /// <summary>The thread that allocated it.</summary>
    public int Thread { get; init; }

    /// <summary>When.</summary>
    public DateTime Time { get; init; }
}

/// <summary>A slice as it was recorded: its length, and samples without names.</summary>
internal sealed record RecordedSlice(SampleSlice Slice, IReadOnlyList<RecordedSample> Samples);

/// <summary>Reads what one slice recorded: samples with their stacks.</summary>
internal static class SampleReader
{
    /// <summary>
    /// Reads the first seconds of a recording, by the clock of the process: a session goes on for milliseconds after it was asked to
    /// stop, which is much of a slice of fifty.
    /// </summary>
    /// <param name="file">The file of the session.</param>
    /// <param name="seconds">How much of it is read; it was on for longer.</param>
    public static RecordedSlice Read(string file, double seconds)
    {
        string converted = TraceLog.CreateFromEventPipeDataFile(file);
        using var log = new TraceLog(converted);
        List<RecordedSample> samples = [];
        Dictionary<CallStackIndex, ulong[]> stacks = [];
        var source = log.Events.GetSource();
        source.Clr.AllocationSampling += written =>
        {
            if (written.TimeStampRelativeMSec <= seconds * 1000)
            {
                samples.Add(SampleOf(written, stacks));
            }
        };
        source.Process();
        return new RecordedSlice(new SampleSlice { Seconds = seconds, LostEvents = log.EventsLost }, samples);
    }

    private static RecordedSample SampleOf(AllocationSampledTraceData written, Dictionary<CallStackIndex, ulong[]> stacks) => new()
    {
        Type = written.TypeName,
        Size = written.ObjectSize,
        IsLarge = written.AllocationKind != GCAllocationKind.Small,
        Stack = StackOf(written.CallStack(), stacks),
        Address = written.Address,
        Thread = written.ThreadID,
        Time = written.TimeStamp,
    };

    private static ulong[] StackOf(TraceCallStack? stack, Dictionary<CallStackIndex, ulong[]> stacks)
    {
        if (stack is null)
        {
            return [];
        }

        if (!stacks.TryGetValue(stack.CallStackIndex, out ulong[]? known))
        {
            List<ulong> addresses = [];
            for (TraceCallStack? frame = stack; frame is not null; frame = frame.Caller)
            {
                addresses.Add(frame.CodeAddress.Address);
            }

            stacks.Add(stack.CallStackIndex, known = [.. addresses]);
        }

        return known;
    }
}
