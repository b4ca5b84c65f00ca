using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>A session whose events go to a file, until it is stopped, the process ends, or the file is as large as it may be.</summary>
internal sealed class SessionFile : IAsyncDisposable
{
    private const int StopMilliseconds = 30_000;
    private const int SilentMilliseconds = 5000;
    private const int ChunkBytes = 1 << 16;

    private readonly EventPipeSession _session;
    private readonly FileStream _file;
    private readonly Task _copy;
    private readonly Lock _gate = new();
    private Task<bool>? _asked;
    private Task? _stopped;

    private SessionFile(EventPipeSession session, FileStream file, long mostBytes)
    {
        _session = session;
        _file = file;
        _copy = Task.Run(() => CopyAsync(mostBytes));
    }

    /// <summary>Whether it was stopped because its file was as large as it may be.</summary>
    public bool IsFull { get; private set; }

    /// <summary>Opens one.</summary>
    /// <param name="client">The diagnostic port of the process.</param>
    /// <param name="target">The process.</param>
    /// <param name="configuration">What is recorded.</param>
    /// <param name="file">The file, which is overwritten.</param>
    /// <param name="stop">Ends the wait for the process's answer.</param>
    /// <param name="mostBytes">How large the file may become; what the process has written by then is still added.</param>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public static SessionFile Open(
        DiagnosticsClient client, TargetProcess target, EventPipeSessionConfiguration configuration, string file, CancellationToken stop,
        long mostBytes = long.MaxValue) =>
        new(Connection.Open(client, target, configuration, stop), File.Create(file, bufferSize: 0), mostBytes);

    /// <summary>Ends the session and closes its file.</summary>
    /// <exception cref="TargetException">The file could not be written.</exception>
    public Task StopAsync() => _stopped ??= StopOnceAsync();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync() => await StopAsync();

    private async Task StopOnceAsync()
    {
        bool hasAnswered = await AskToStop();
        try
        {
            await _copy.WaitAsync(TimeSpan.FromMilliseconds(hasAnswered ? StopMilliseconds : SilentMilliseconds));
        }
        catch (Exception failure) when (Connection.IsGone(failure))
        {
            // The process has ended or stands still; what it had written is kept.
        }
        finally
        {
            _session.Dispose();
            await _file.DisposeAsync();
        }
    }

    /// <summary>Asks the process to stop, once.</summary>
    /// <returns>Whether it has answered.</returns>
    private Task<bool> AskToStop()
    {
        lock (_gate)
        {
            return _asked ??= Task.Run(() => Connection.Stop(_session, StopMilliseconds));
        }
    }

    private async Task CopyAsync(long mostBytes)
    {
        byte[] chunk = new byte[ChunkBytes];
        for (int read; (read = await _session.EventStream.ReadAsync(chunk)) > 0;)
        {
            await WriteAsync(chunk.AsMemory(0, read));
            if (_file.Length > mostBytes && !IsFull)
            {
                IsFull = true;
                _ = AskToStop();
            }
        }
    }

    /// <summary>Adds to the file. A failure is told apart from that of a process which has ended.</summary>
    private async Task WriteAsync(ReadOnlyMemory<byte> part)
    {
        try
        {
            await _file.WriteAsync(part);
        }
        catch (IOException failure)
        {
            throw new TargetException(
                TargetProblem.OutOfReach, $"what the process writes cannot be kept in {_file.Name}: {failure.Message}");
        }
    }
}
