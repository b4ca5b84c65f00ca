using System.Diagnostics;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>
/// A session without stacks in which each collection writes what it found alive and where it put it. That happens while the program
/// stands still, so the session is asked for, bounded, and tells what it cost.
/// </summary>
internal sealed class SurvivalSession : IAsyncDisposable
{
    /// <summary>The longest window: a collection of a large and fragmented heap writes megabytes.</summary>
    public const int LongestSeconds = 60;

    private const int BufferMegabytes = 256;
    private const long MostBytes = 1L << 29;
    private const long Collections = 0x1;
    private const long SamplesAndSurvivors = 0x8000_0000_000 | 0x40_0000 | Collections;

    private static readonly TimeSpan Baseline = TimeSpan.FromSeconds(3);

    private readonly SessionFile _recording;
    private readonly string _file;
    private readonly LifetimeWindow _before;
    private readonly long _start = Stopwatch.GetTimestamp();

    private SurvivalSession(SessionFile recording, string file, LifetimeWindow before) =>
        (_recording, _file, _before) = (recording, file, before);

    /// <summary>Opens one, after three seconds of the process undisturbed.</summary>
    /// <exception cref="TargetException">The process does not answer, or has a collector whose words are not understood.</exception>
    public static async Task<SurvivalSession> OpenAsync(
        DiagnosticsClient client, TargetProcess target, DirectoryInfo folder, CancellationToken stop)
    {
        string file = Path.Combine(folder.FullName, "before.nettrace");
        var clock = new ProcessorClock(target.Id);
        await using (SessionFile quiet = SessionFile.Open(client, target, ConfigurationOf(Collections), file, stop))
        {
            RefuseOtherCollectors(client, target); // it has just answered
            await Task.WhenAny(Task.Delay(Baseline, stop));
        }

        (double? processors, double seconds) = (clock.Read(), clock.Seconds);
        var before = new LifetimeWindow
        {
            Seconds = 0,
            ProcessorsBefore = processors,
            PausedBefore = SurvivalReader.PausedSeconds(file) / seconds,
        };
        file = Path.Combine(folder.FullName, "survivors.nettrace");
        return new SurvivalSession(
            SessionFile.Open(client, target, ConfigurationOf(SamplesAndSurvivors), file, stop, MostBytes), file, before);
    }

    /// <summary>Ends the session and reads what it wrote.</summary>
    /// <param name="samples">The samples to follow.</param>
    public async Task<SurvivalRecording> ReadAsync(IReadOnlyList<RecordedSample> samples)
    {
        double seconds = Stopwatch.GetElapsedTime(_start).TotalSeconds;
        await _recording.StopAsync();
        SurvivalRecording read = await Task.Run(() => SurvivalReader.Read(_file, seconds, samples));
        return read with
        {
            Window = read.Window with
            {
                IsFull = _recording.IsFull,
                ProcessorsBefore = _before.ProcessorsBefore,
                PausedBefore = _before.PausedBefore,
            },
        };
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _recording.DisposeAsync();

    private static EventPipeSessionConfiguration ConfigurationOf(long keywords) => new(
        [new("Microsoft-Windows-DotNETRuntime", EventLevel.Informational, keywords)],
        BufferMegabytes,
        requestRundown: false,
        requestStackwalk: false);

    /// <summary>The collector of segments writes ranges that do not hold all it keeps, measured with libclrgc of .NET 10.</summary>
    private static void RefuseOtherCollectors(DiagnosticsClient client, TargetProcess target)
    {
        string? other = null;
        try
        {
            Dictionary<string, string> variables = client.GetProcessEnvironment();
            other = variables.GetValueOrDefault("DOTNET_GCName") ?? variables.GetValueOrDefault("DOTNET_GCPath");
        }
        catch (Exception failure) when (Connection.IsGone(failure))
        {
            // It has ended: the next session says so.
        }

        if (!string.IsNullOrEmpty(other))
        {
            throw new TargetException(
                TargetProblem.WrongTarget,
                $"process {target.Id} ({target.Name}) runs the collector '{other}': lifetimes can be followed only with the one that "
                    + "comes with its runtime. Leave --lifetimes out.");
        }
    }
}
