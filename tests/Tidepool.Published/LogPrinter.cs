using Microsoft.Extensions.Logging;

namespace Tidepool.Published;

/// <summary>Prints what is logged before the call returns. The platform's console logger drops what it has not written in time.</summary>
internal sealed class LogPrinter : ILoggerProvider
{
    public ILogger CreateLogger(string categoryName) => new Printer(categoryName);

    public void Dispose()
    {
        // Nothing is kept.
    }

    private sealed class Printer(string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Console.WriteLine($"{logLevel}: {category}[{eventId.Id}] {formatter(state, exception)}");
    }
}
