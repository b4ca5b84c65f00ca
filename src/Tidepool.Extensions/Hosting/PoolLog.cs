using Microsoft.Extensions.Logging;

namespace Tidepool;

/// <summary>
/// Writes to a logger what the pools of the process report, until it is disposed. The messages are generated, so nothing is formatted for
/// a level that is off.
/// </summary>
internal sealed partial class PoolLog : IDisposable
{
    internal const string Category = "Tidepool";

    private readonly ILogger _log;

    internal PoolLog(ILogger log)
    {
        _log = log;
        PoolDiagnostics.MisuseReported += Write;
        PoolDiagnostics.ResourceReported += Write;
    }

    public void Dispose()
    {
        PoolDiagnostics.MisuseReported -= Write;
        PoolDiagnostics.ResourceReported -= Write;
    }

    [LoggerMessage(7, LogLevel.Information, "Pool {Pool} has {Count} resources ready.")]
    internal static partial void WarmedUp(ILogger log, string pool, int count);

    [LoggerMessage(8, LogLevel.Error, "Pool {Pool} could not warm up to {Count} resources; it tries again when it is rented from.")]
    internal static partial void WarmUpFailed(ILogger log, string pool, int count, Exception exception);

    [LoggerMessage(9, LogLevel.Warning, "Pool {Pool} was shut down while {Leased} leases were out; the grace was {Grace}.")]
    internal static partial void StillLeased(ILogger log, string pool, int leased, TimeSpan grace);

    [LoggerMessage(10, LogLevel.Warning, "The configuration has {Section}, and no pool has that name: it is not read. {Advice}")]
    internal static partial void SectionNotRead(ILogger log, string section, string advice);

    [LoggerMessage(1, LogLevel.Error, "Misuse of pool {Pool}, {Kind}: {Report}")]
    private static partial void Misused(ILogger log, string pool, MisuseKind kind, string report);

    [LoggerMessage(2, LogLevel.Warning, "Leak of pool {Pool}: {Report}")]
    private static partial void Leaked(ILogger log, string pool, string report);

    [LoggerMessage(3, LogLevel.Error, "{Report}")]
    private static partial void CreateFailed(ILogger log, string report, Exception? exception);

    [LoggerMessage(4, LogLevel.Warning, "{Report}")]
    private static partial void BackedOff(ILogger log, string report);

    [LoggerMessage(5, LogLevel.Information, "{Report}")]
    private static partial void Recovered(ILogger log, string report);

    [LoggerMessage(6, LogLevel.Information, "{Report}")]
    private static partial void Cleared(ILogger log, string report);

    private static string TextOf(string message, long leftOut) =>
        leftOut == 0 ? message : $"{message} ({leftOut} more of this kind and pool were held back before this one.)";

    private void Write(MisuseReport report)
    {
        string text = TextOf(report.Message, report.LeftOut);
        if (report.Kind == MisuseKind.NeverReturned)
        {
            Leaked(_log, report.PoolName, text);
        }
        else
        {
            Misused(_log, report.PoolName, report.Kind, text);
        }
    }

    private void Write(ResourceReport report)
    {
        string text = TextOf(report.Message, report.LeftOut);
        switch (report.Kind)
        {
            case ResourceReportKind.CreateFailed:
                CreateFailed(_log, text, report.Exception);
                break;
            case ResourceReportKind.BackedOff:
                BackedOff(_log, text);
                break;
            case ResourceReportKind.Recovered:
                Recovered(_log, text);
                break;
            default:
                Cleared(_log, text);
                break;
        }
    }
}
