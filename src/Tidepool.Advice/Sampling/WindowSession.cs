using System.Diagnostics;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>What the session of a window recorded.</summary>
/// <param name="Names">The methods that were compiled at its end.</param>
/// <param name="Collections">What collections did while it was open.</param>
internal sealed record WindowRecording(SymbolTable Names, CollectionHistory Collections);

/// <summary>
/// A session without stacks that is open for the whole window. Collections write a few events each: there may be none within the slices
/// of a program that allocates little. At its end, or at the end of the process, the runtime writes which methods it has compiled, where
/// their code is, and which lines it came from.
/// </summary>
internal sealed class WindowSession : IAsyncDisposable
{
    private const int BufferMegabytes = 64;
    private const long Collections = 0x1;

    /// <summary>Assemblies (8), methods compiled now (10) and before (20), the end of it (100), and lines (20000).</summary>
    private const long Rundown = 0x8002_0138;

    private readonly SessionFile _recording;
    private readonly string _file;
    private readonly long _start = Stopwatch.GetTimestamp();

    private WindowSession(SessionFile recording, string file) => (_recording, _file) = (recording, file);

    /// <summary>Opens one.</summary>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public static WindowSession Open(DiagnosticsClient client, TargetProcess target, string file, CancellationToken stop)
    {
        var configuration = new EventPipeSessionConfiguration(
            [
                RuntimeEvents.Of(
                    target, Collections, RuntimeEvents.CollectionStart, RuntimeEvents.HeapStatistics, RuntimeEvents.PauseStart,
                    RuntimeEvents.PauseEnd),
            ],
            BufferMegabytes,
            Rundown,
            requestStackwalk: false);
        return new WindowSession(SessionFile.Open(client, target, configuration, file, stop), file);
    }

    /// <summary>Ends the session and reads what it wrote.</summary>
    public async Task<WindowRecording> ReadAsync()
    {
        double seconds = Stopwatch.GetElapsedTime(_start).TotalSeconds;
        await _recording.StopAsync();
        return await Task.Run(() => WindowReader.Read(_file, seconds));
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _recording.DisposeAsync();
}
