namespace Tidepool;

/// <summary>
/// Reports misuse, leaks, and trouble with the supply of resources to the program, also where event sources are switched off (native AOT).
/// </summary>
/// <remarks>
/// <para>Without code the same comes from the environment: <c>TIDEPOOL_CHECKS=default,log</c> (or <c>full,log</c>, <c>full,stacks,log</c>)
/// writes each report to standard error.</para>
/// <para>Of each kind a pool reports its first ten, then at most one a minute, with the number of those held back. Counters
/// (<see cref="PoolStatistics.GetMisuse"/>, the meter) and the event source <c>Tidepool</c> have all of them.</para>
/// </remarks>
public static class PoolDiagnostics
{
    [ThreadStatic]
    private static bool t_isNotifying;

    /// <summary>
    /// Raised for each report, on the thread that found it: the one that misused the pool, or one of the thread pool for leaks.
    /// </summary>
    /// <remarks>
    /// No lock of the library is held, and no pool waits for the handler, but the misusing caller does: be brief. What a handler throws is
    /// dropped, and the other handlers are called. Misuse inside a handler is counted and not raised. Thread-safe; adding and removing
    /// costs one object each.
    /// </remarks>
    public static event Action<MisuseReport>? MisuseReported;

    /// <summary>
    /// Raised when a resource pool fails to create, backs off, recovers or is cleared, on the thread that brought it about.
    /// </summary>
    /// <remarks>As for <see cref="MisuseReported"/>: no lock is held, and what a handler throws is dropped. A pool may be called.</remarks>
    public static event Action<ResourceReport>? ResourceReported;

    /// <summary>Whether a report reaches a listener, so that it is worth writing.</summary>
    internal static bool IsHeard => MisuseReported is not null || ProcessChecks.Logs || TidepoolEventSource.IsHeard;

    /// <summary>Whether a report about the supply of resources reaches a listener.</summary>
    internal static bool HearsResources => ResourceReported is not null || ProcessChecks.Logs || TidepoolEventSource.IsHeard;

    /// <summary>Reports misuse that was counted already to all listeners. Called with nothing held.</summary>
    internal static void Report(PoolName pool, MisuseKind kind, string message)
    {
        if (TidepoolEventSource.IsHeard)
        {
            TidepoolEventSource.Log.Misuse(MisuseText.Names[(int)kind], message, pool.Text);
        }

        Notify(pool, kind, message);
    }

    /// <summary>Reports a leak that the event source knows already by an event of its own.</summary>
    internal static void ReportLeak(PoolName pool, string message) => Notify(pool, MisuseKind.NeverReturned, message);

    /// <summary>Reports what has happened to the supply of a resource pool to all listeners. Called with nothing held.</summary>
    internal static void Report(PoolName pool, ResourceReportKind kind, string key, string message, Exception? failure = null)
    {
        if (TidepoolEventSource.IsHeard)
        {
            TidepoolEventSource.Log.ResourceReported(kind.ToString(), message, pool.Text, key);
        }

        Action<ResourceReport>? handlers = ResourceReported;
        if ((handlers is not null || ProcessChecks.Logs) && !t_isNotifying
            && pool.Rate.Admits(kind, Environment.TickCount64, out long leftOut))
        {
            Notify(handlers, new ResourceReport(kind, pool.Text, key, message) { Exception = failure, LeftOut = leftOut });
        }
    }

    /// <summary>Reports a pooler before a database, which is no misuse: in an event, and in the log if there is one.</summary>
    internal static void ReportPooler(string pool, string message, TextWriter? log)
    {
        TidepoolEventSource.Log.PoolerFound(message, pool);
        if (log is not null)
        {
            Shield(() => log.WriteLine($"Tidepool: {pool}: {message}"));
        }
    }

    private static void Notify(PoolName pool, MisuseKind kind, string message)
    {
        Action<MisuseReport>? handlers = MisuseReported;
        if ((handlers is not null || ProcessChecks.Logs) && !t_isNotifying
            && pool.Rate.Admits(kind, Environment.TickCount64, out long leftOut))
        {
            Notify(handlers, new MisuseReport(kind, pool.Text, message, leftOut));
        }
    }

    /// <summary>Gives a report to each handler, and to the log if there is one.</summary>
    private static void Notify<TReport>(Action<TReport>? handlers, TReport report)
        where TReport : class
    {
        t_isNotifying = true;
        try
        {
            foreach (Action<TReport> handler in Delegate.EnumerateInvocationList(handlers))
            {
                Shield(() => handler(report));
            }

            if (ProcessChecks.Logs)
            {
                Shield(() => Console.Error.WriteLine(report.ToString()));
            }
        }
        finally
        {
            t_isNotifying = false;
        }
    }

    /// <summary>
    /// A listener's failure must not change what the misuse leads to, nor end the thread pool's thread that reports a leak.
    /// </summary>
    private static void Shield(Action action)
    {
        try
        {
            action();
        }
        catch (Exception)
        {
            // A listener's own.
        }
    }
}
