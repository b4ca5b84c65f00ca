using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>Keeps what is logged under the category of the library, one line each: level, event, text, type of the exception.</summary>
public sealed class LogLines : ILoggerProvider, ILogger
{
    private readonly ConcurrentQueue<string> _lines = [];

    public IEnumerable<string> Lines => _lines;

    /// <summary>Waits for a line that begins so.</summary>
    public async Task WaitForAsync(string start)
    {
        long deadline = Environment.TickCount64 + 60_000;
        while (!_lines.Any(line => line.StartsWith(start, StringComparison.Ordinal)))
        {
            Assert.True(Environment.TickCount64 < deadline, $"no line began with '{start}':\n{string.Join('\n', _lines)}");
            await Task.Delay(5);
        }
    }

    public ILogger CreateLogger(string categoryName) => categoryName == "Tidepool" ? this : NullLogger.Instance;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        string cause = exception is null ? string.Empty : $" <{exception.GetType().Name}>";
        _lines.Enqueue($"{logLevel} {eventId.Id}: {formatter(state, exception)}{cause}");
    }

    public void Dispose()
    {
        // It holds nothing.
    }
}
