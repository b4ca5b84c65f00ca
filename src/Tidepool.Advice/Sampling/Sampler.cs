using System.Diagnostics;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>What sampling has seen and what it cost.</summary>
internal sealed record SamplingResult
{
    /// <summary>The slices.</summary>
    public required IReadOnlyList<SampleSlice> Slices { get; init; }

    /// <summary>The seconds of the whole window.</summary>
    public double Seconds { get; init; }

    /// <summary>What collections did in the window.</summary>
    public CollectionHistory Collections { get; init; } = new();

    /// <summary>The seconds that the stack session was on.</summary>
    public double SampledSeconds => Slices.Sum(static slice => slice.Seconds);

    /// <summary>How many processors the process kept busy while the session was off.</summary>
    public double? ProcessorsOff { get; init; }

    /// <summary>How many while it was on, its start and end included.</summary>
    public double? ProcessorsOn { get; init; }

    /// <summary>The processor time that naming the methods cost the process, once at the end; null where it cannot be read.</summary>
    public double? NamingSeconds { get; init; }

    /// <summary>How lifetimes were followed; null when they were not.</summary>
    public LifetimeWindow? Lifetimes { get; init; }

    /// <summary>The share of the process's processor time that all of it cost, as measured; null where it cannot be read.</summary>
    public double? Cost => ProcessorsOn is { } on && ProcessorsOff is > 0 and var off
        ? Math.Max(0, (on - off) * SampledSeconds + (NamingSeconds ?? 0)) / (off * Seconds)
        : null;
}

/// <summary>Switches a session with stacks on for some slices of a window, so that it stays within a budget.</summary>
/// <param name="target">The process.</param>
/// <param name="seconds">The length of the window.</param>
/// <param name="budget">The share of the processor time of the process that samples may cost.</param>
/// <param name="followsLifetimes">Whether the samples are followed through collections as well.</param>
internal sealed class Sampler(TargetProcess target, double seconds, double budget, bool followsLifetimes = false)
{
    /// <summary>The first version of .NET that samples allocations.</summary>
    internal const int FirstRuntime = 10;

    private const int BufferMegabytes = 128;
    private const long SampledAllocations = 0x8000_0000_000;

    private static readonly TimeSpan LastMoment = TimeSpan.FromSeconds(2);
    private static readonly Dictionary<RecordedSample, Lifetime> NotFollowed = [];

    private readonly DiagnosticsClient _client = new(target.Id);

    /// <summary>Samples for the window.</summary>
    /// <param name="progress">Told of each slice: its number and how many there are.</param>
    /// <param name="stop">Ends the window early, with what has been seen.</param>
    /// <exception cref="TargetException">The process does not answer, or its runtime samples no allocations.</exception>
    public async Task<SamplingResult> RunAsync(Action<int, int> progress, CancellationToken stop)
    {
        if (int.TryParse(target.Runtime.Split('.')[0], out int major) && major < FirstRuntime)
        {
            throw new TargetException(
                TargetProblem.WrongTarget,
                $"process {target.Id} ({target.Name}) runs .NET {target.Runtime}, which samples no allocations: advise needs .NET "
                    + $"{FirstRuntime}. Watch works.");
        }

        using var folder = new TemporaryFolder("tidepool-advise-");
        return await RunAsync(folder.Info, progress, stop);
    }

    private async Task<SamplingResult> RunAsync(DirectoryInfo folder, Action<int, int> progress, CancellationToken stop)
    {
        // Open from the beginning: a process that ends in the window writes its methods then.
        await using WindowSession whole = WindowSession.Open(
            _client, target, Path.Combine(folder.FullName, "window.nettrace"), stop);
        await using SurvivalSession? survival = followsLifetimes ? await SurvivalSession.OpenAsync(_client, target, folder, stop) : null;
        List<RecordedSlice> slices = [];
        var on = new ProcessorTally();
        var off = new ProcessorTally();
        var time = Stopwatch.StartNew();
        double length = Math.Min(SamplingPlan.FirstSeconds, seconds / SamplingPlan.Slices);
        for (int i = 0; i < SamplingPlan.Slices && !stop.IsCancellationRequested && !HasEnded(); i++)
        {
            progress(i + 1, SamplingPlan.Slices);
            string file = Path.Combine(folder.FullName, $"{i}.nettrace");
            var clock = new ProcessorClock(target.Id);
            double sampled;
            try
            {
                sampled = await RecordAsync(file, length, stop);
            }
            catch (TargetException) when (slices.Count > 0 && EndsSoon())
            {
                break; // what was seen is worth a report
            }

            on.Add(clock);
            clock = new ProcessorClock(target.Id);
            if (await Task.Run(() => ReadOrNothing(file, sampled), CancellationToken.None) is not { } slice)
            {
                break;
            }

            slices.Add(slice);
            double next = seconds * (i + 1) / SamplingPlan.Slices - time.Elapsed.TotalSeconds;
            await WaitAsync(Math.Max(next, 0), stop);
            off.Add(clock);
            if (i == 0)
            {
                length = SamplingPlan.SliceSeconds(seconds, slice.Samples.Count / sampled, off.Processors ?? 1, budget);
            }
        }

        double window = time.Elapsed.TotalSeconds;
        SurvivalRecording? followed =
            survival is null ? null : await survival.ReadAsync([.. slices.SelectMany(static slice => slice.Samples)]);
        var naming = new ProcessorClock(target.Id);
        WindowRecording recording = await whole.ReadAsync();
        double? used = (naming.Read() - off.Processors) * naming.Seconds;
        if (recording.Names.IsEmpty && slices.Any(static slice => slice.Samples.Count > 0))
        {
            throw new TargetException(
                TargetProblem.OutOfReach,
                $"process {target.Id} ({target.Name}) was killed before it could name its methods, so its samples have no places.");
        }

        using var assemblies = new AssemblyFiles();
        var reader = new StackReader(recording.Names, assemblies);
        return new SamplingResult
        {
            Slices = [.. slices.Select(slice => reader.Read(slice, followed?.Lifetimes ?? NotFollowed))],
            Lifetimes = followed is null ? null : followed.Window with { ProcessorsWithin = off.Processors },
            Seconds = window,
            Collections = recording.Collections,
            ProcessorsOn = on.Processors,
            ProcessorsOff = off.Processors,
            NamingSeconds = used is { } known ? Math.Max(0, known) : null,
        };
    }

    /// <summary>Reads a slice; null for one that the end of the process has torn.</summary>
    private RecordedSlice? ReadOrNothing(string file, double sampled)
    {
        try
        {
            return SampleReader.Read(file, sampled);
        }
        catch (Exception) when (EndsSoon())
        {
            return null;
        }
    }

    private bool HasEnded() => new ProcessorClock(target.Id).Read() is null || SystemProcess.IsZombie(target.Id);

    /// <summary>Whether it has ended: its diagnostic port is gone a moment before.</summary>
    private bool EndsSoon() => SpinWait.SpinUntil(HasEnded, LastMoment);

    /// <summary>Records one slice.</summary>
    /// <returns>How long the session was on.</returns>
    private async Task<double> RecordAsync(string file, double length, CancellationToken stop)
    {
        await using SessionFile recording = SessionFile.Open(_client, target, ConfigurationOf(target), file, stop);
        long start = Stopwatch.GetTimestamp();
        await WaitAsync(length, stop);
        double sampled = Stopwatch.GetElapsedTime(start).TotalSeconds;
        await recording.StopAsync();
        return sampled;
    }

    /// <summary>What a slice records.</summary>
    internal static EventPipeSessionConfiguration ConfigurationOf(TargetProcess target) => new(
        [RuntimeEvents.Of(target, SampledAllocations, RuntimeEvents.Sample)],
        BufferMegabytes,
        requestRundown: false, // once at the end of the window, not at that of each slice
        requestStackwalk: true);

    private static async Task WaitAsync(double seconds, CancellationToken stop) =>
        await Task.WhenAny(Task.Delay(TimeSpan.FromSeconds(seconds), stop));

    /// <summary>Adds up processor time over several pieces of a window.</summary>
    private sealed class ProcessorTally
    {
        private double _used;
        private double _seconds;
        private bool _isKnown = true;

        public double? Processors => _isKnown && _seconds > 0 ? _used / _seconds : null;

        public void Add(ProcessorClock clock)
        {
            double seconds = clock.Seconds;
            _isKnown &= clock.Read() is not null;
            _used += (clock.Read() ?? 0) * seconds;
            _seconds += seconds;
        }
    }
}
