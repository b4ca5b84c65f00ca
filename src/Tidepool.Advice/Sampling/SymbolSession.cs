using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>
/// A session that records nothing while it is open: at its end, or at the end of the process, the runtime writes which methods it has
/// compiled, where their code is, and which lines it came from.
/// </summary>
internal sealed class SymbolSession : IAsyncDisposable
{
    private const int BufferMegabytes = 64;
    private const long Loader = 0x8;

    /// <summary>Assemblies (8), methods compiled now (10) and before (20), the end of it (100), and lines (20000).</summary>
    private const long Rundown = 0x8002_0138;

    private readonly SessionFile _recording;
    private readonly string _file;

    private SymbolSession(SessionFile recording, string file) => (_recording, _file) = (recording, file);

    /// <summary>Opens one.</summary>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public static SymbolSession Open(DiagnosticsClient client, TargetProcess target, string file)
    {
        // At this level the loader's events, which a session has to ask for something, are not written.
        var configuration = new EventPipeSessionConfiguration(
            [new("Microsoft-Windows-DotNETRuntime", EventLevel.Critical, Loader)], BufferMegabytes, Rundown, requestStackwalk: false);
        return new SymbolSession(SessionFile.Open(client, target, configuration, file), file);
    }

    /// <summary>Ends the session and reads what it wrote.</summary>
    public async Task<SymbolTable> ReadAsync()
    {
        await _recording.StopAsync();
        return await Task.Run(() => RundownReader.Read(_file));
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _recording.DisposeAsync();
}
