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
    private const int StopMilliseconds = 30_000;
    private const long Loader = 0x8;

    /// <summary>Assemblies (8), methods compiled now (10) and before (20), the end of it (100), and lines (20000).</summary>
    private const long Rundown = 0x8002_0138;

    private readonly EventPipeSession _session;
    private readonly FileStream _file;
    private readonly Task _copy;
    private bool _isStopped;

    private SymbolSession(EventPipeSession session, FileStream file)
    {
        _session = session;
        _file = file;
        _copy = session.EventStream.CopyToAsync(file);
    }

    /// <summary>Opens one.</summary>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public static SymbolSession Open(DiagnosticsClient client, TargetProcess target, string file)
    {
        // At this level the loader's events, which a session has to ask for something, are not written.
        EventPipeSession session = Connection.Open(
            client,
            target,
            new EventPipeSessionConfiguration(
                [new("Microsoft-Windows-DotNETRuntime", EventLevel.Critical, Loader)], BufferMegabytes, Rundown, requestStackwalk: false));
        return new SymbolSession(session, File.Create(file));
    }

    /// <summary>Ends the session and reads what it wrote.</summary>
    public async Task<SymbolTable> ReadAsync()
    {
        await StopAsync();
        await _file.DisposeAsync();
        return await Task.Run(() => RundownReader.Read(_file.Name));
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        await _file.DisposeAsync();
        _session.Dispose();
    }

    private async Task StopAsync()
    {
        if (_isStopped)
        {
            return;
        }

        _isStopped = true;
        await Task.Run(() => Connection.Stop(_session, StopMilliseconds));
        try
        {
            await _copy.WaitAsync(TimeSpan.FromMilliseconds(StopMilliseconds));
        }
        catch (Exception failure) when (Connection.IsGone(failure))
        {
            // The process has ended; what it had written is kept.
        }
    }
}
