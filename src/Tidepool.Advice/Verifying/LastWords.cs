using System.Text;

namespace Tidepool.Advice;

/// <summary>Reads a stream to its end and keeps its last lines: what a program said before it failed.</summary>
internal sealed class LastWords
{
    private const int MostBytes = 4096;
    private const int MostLines = 5;

    /// <summary>How runtimes begin to say that a program crashed.</summary>
    private static readonly string[] Crashes = ["Unhandled exception", "Process terminated"];

    private readonly byte[] _block = new byte[MostBytes];
    private byte[] _last = [];

    /// <summary>The last lines that are not empty; of an exception that ended a program, its first.</summary>
    public IReadOnlyList<string> Lines
    {
        get
        {
            string[] lines = Encoding.UTF8.GetString(_last)
                .Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
            int crash = Array.FindLastIndex(lines, static line => Crashes.Any(crash => line.StartsWith(crash, StringComparison.Ordinal)));
            return [.. crash >= 0 ? lines.Skip(crash).Take(MostLines) : lines.TakeLast(MostLines)];
        }
    }

    /// <summary>Reads until the stream ends or breaks off.</summary>
    public async Task ReadAsync(Stream stream)
    {
        try
        {
            while (await stream.ReadAsync(_block) is > 0 and var count)
            {
                byte[] all = [.. _last, .. _block.AsSpan(0, count)];
                _last = all.Length > MostBytes ? all[^MostBytes..] : all;
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The program has ended, or was killed.
        }
    }
}
