using Microsoft.Diagnostics.Symbols;
using Microsoft.Diagnostics.Tracing.Etlx;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Tidepool.Advice;

/// <summary>Reads what one slice recorded: samples with their stacks, collections and what they promoted.</summary>
internal sealed class SampleReader : IDisposable
{
    /// <summary>The symbols lie on this machine, beside the assemblies that run: no server is asked.</summary>
    private readonly SymbolReader _symbols = new(TextWriter.Null, "") { SecurityCheck = static _ => true };

    /// <summary>Reads a recording.</summary>
    /// <param name="file">The file of the session.</param>
    /// <param name="seconds">How long the session was on.</param>
    public SampleSlice Read(string file, double seconds)
    {
        string converted = TraceLog.CreateFromEventPipeDataFile(file);
        using var log = new TraceLog(converted);
        List<AllocationSample> samples = [];
        Dictionary<string, int> collections = [];
        Dictionary<CallStackIndex, IReadOnlyList<StackPlace>> stacks = [];
        Dictionary<CodeAddressIndex, StackPlace> places = [];
        long promoted = 0;
        long large = 0;
        int full = 0;
        bool isFull = false;
        var source = log.Events.GetSource();
        source.Clr.AllocationSampling += written => samples.Add(new AllocationSample
        {
            Type = written.TypeName,
            Size = written.ObjectSize,
            IsLarge = written.AllocationKind != GCAllocationKind.Small,
            Stack = StackOf(written.CallStack(), stacks, places),
        });
        source.Clr.GCStart += written =>
        {
            string reason = written.Reason.ToString();
            collections[reason] = collections.GetValueOrDefault(reason) + 1;
            isFull = written.Depth >= 2;
            full += isFull ? 1 : 0;
        };
        source.Clr.GCHeapStats += written =>
        {
            promoted += written.TotalPromotedSize0;
            large += isFull ? written.TotalPromotedSize3 : 0;
        };
        source.Process();
        return new SampleSlice
        {
            Seconds = seconds,
            Samples = samples,
            Collections = collections,
            FullCollections = full,
            PromotedBytes = promoted,
            LargeSurvivingBytes = large,
            LostEvents = log.EventsLost,
        };
    }

    /// <inheritdoc/>
    public void Dispose() => _symbols.Dispose();

    private IReadOnlyList<StackPlace> StackOf(
        TraceCallStack? stack,
        Dictionary<CallStackIndex, IReadOnlyList<StackPlace>> stacks,
        Dictionary<CodeAddressIndex, StackPlace> places)
    {
        if (stack is null)
        {
            return [];
        }

        if (!stacks.TryGetValue(stack.CallStackIndex, out var known))
        {
            List<StackPlace> frames = [];
            for (TraceCallStack? frame = stack; frame is not null; frame = frame.Caller)
            {
                frames.Add(PlaceOf(frame.CodeAddress, places));
            }

            stacks.Add(stack.CallStackIndex, known = frames);
        }

        return known;
    }

    private StackPlace PlaceOf(TraceCodeAddress address, Dictionary<CodeAddressIndex, StackPlace> places)
    {
        if (!places.TryGetValue(address.CodeAddressIndex, out var place))
        {
            SourceLocation? line = FindLine(address);
            place = new StackPlace(
                address.ModuleName,
                FrameRules.Readable(address.FullMethodName),
                line?.SourceFile?.BuildTimeFilePath ?? "",
                line?.LineNumber ?? 0);
            places.Add(address.CodeAddressIndex, place);
        }

        return place;
    }

    private SourceLocation? FindLine(TraceCodeAddress address)
    {
        try
        {
            return address.Method is null || address.ModuleName.StartsWith("System.", StringComparison.Ordinal)
                ? null
                : address.GetSourceLine(_symbols);
        }
        catch (Exception)
        {
            return null; // symbols of another build, or ones that cannot be read: a site without a line is better than no advice
        }
    }
}
