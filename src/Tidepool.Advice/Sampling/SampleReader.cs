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

/// <summary>A slice as it was recorded: what is counted, and samples without names.</summary>
internal sealed record RecordedSlice(SampleSlice Slice, IReadOnlyList<RecordedSample> Samples);

/// <summary>Reads what one slice recorded: samples with their stacks, collections and what they promoted.</summary>
internal static class SampleReader
{
    /// <summary>Reads a recording.</summary>
    /// <param name="file">The file of the session.</param>
    /// <param name="seconds">How long the session was on.</param>
    public static RecordedSlice Read(string file, double seconds)
    {
        string converted = TraceLog.CreateFromEventPipeDataFile(file);
        using var log = new TraceLog(converted);
        List<RecordedSample> samples = [];
        Dictionary<string, int> collections = [];
        Dictionary<CallStackIndex, ulong[]> stacks = [];
        List<CollectionPause> pauses = [];
        SurvivorCount survivors = new();
        bool isFull = false;
        var source = log.Events.GetSource();
        source.Clr.AllocationSampling += written => samples.Add(new RecordedSample
        {
            Type = written.TypeName,
            Size = written.ObjectSize,
            IsLarge = written.AllocationKind != GCAllocationKind.Small,
            Stack = StackOf(written.CallStack(), stacks),
            Address = written.Address,
            Thread = written.ThreadID,
            Time = written.TimeStamp,
        });
        source.Clr.GCStart += written =>
        {
            string reason = written.Reason.ToString();
            collections[reason] = collections.GetValueOrDefault(reason) + 1;
            isFull = written.Depth >= 2;
            survivors.Begin(written.Depth, written.Type == GCType.BackgroundGC);
        };
        source.Clr.GCHeapStats += written => survivors.End(written.TotalPromotedSize0, written.TotalPromotedSize3);
        PauseEvents.Listen(source, milliseconds => pauses.Add(new(milliseconds / 1000, isFull)));
        source.Process();
        var slice = new SampleSlice
        {
            Seconds = seconds,
            Collections = collections,
            FullCollections = survivors.Full,
            Pauses = pauses,
            YoungCollections = survivors.Young,
            PromotedBytes = survivors.PromotedBytes,
            LargeSurvivingBytes = survivors.LargeBytes,
            LostEvents = log.EventsLost,
        };
        return new RecordedSlice(slice, samples);
    }

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
