using System.Globalization;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Tidepool.Data;

namespace Tidepool;

/// <summary>
/// Says how one pool of resources or connections does. It asks the pool's numbers, and rents once where that is no burden: an idle pool
/// notices a dead server only when it is rented from.
/// </summary>
internal sealed class PoolHealthCheck(HostedPool pool) : IHealthCheck
{
    /// <summary>The numbers of the last look, for what has happened since.</summary>
    private (long TimedOut, long Rejected, long CreateFailures) _last;

    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        Exception? failure = await ProbeAsync(cancellationToken).ConfigureAwait(false);
        if (pool.FindStatistics() is not { } s)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, $"Pool '{pool.Name}' was shut down.");
        }

        long timedOut = CountSince(ref _last.TimedOut, s.TimedOut);
        long rejected = CountSince(ref _last.Rejected, s.Rejected);
        long failed = CountSince(ref _last.CreateFailures, s.CreateFailures);
        string numbers = Describe(s);

        // The last error stays until a creation succeeds. A pool that has needed none since then is well.
        bool failsNow = failure is not null || (s.LastCreateError is not null && (failed > 0 || s.Waiting > 0));
        if ((failure ?? s.LastCreateError) is { } error && (failsNow || s.Total == 0))
        {
            (HealthStatus status, string what) = Judge(failsNow, s.Total, context.Registration.FailureStatus);
            string why = $"{error.GetType().Name}: {error.Message}";
            return new HealthCheckResult(status, $"Pool '{pool.Name}' {what}: {numbers} {why}", error, DataOf(s));
        }

        if (timedOut + rejected > 0 || (s.Waiting > 0 && s.Leased >= s.MaxSize))
        {
            string why = $"{timedOut} rentals timed out and {rejected} were refused since the last check.";
            return HealthCheckResult.Degraded($"Pool '{pool.Name}' is too small for its callers: {why} {numbers}", null, DataOf(s));
        }

        return HealthCheckResult.Healthy($"Pool '{pool.Name}': {numbers}", DataOf(s));
    }

    /// <summary>How many more there are than at the last look. With keys a count falls when a key is forgotten: then none.</summary>
    private static long CountSince(ref long last, long now) => Math.Max(0, now - Interlocked.Exchange(ref last, now));

    /// <summary>What a failed creation says of the pool.</summary>
    /// <remarks>
    /// An old failure is no outage: a pool that may not be probed would stay out of use, for nothing would rent from it any more. Nor is
    /// that of one key, because others may work.
    /// </remarks>
    private (HealthStatus Status, string What) Judge(bool failsNow, int total, HealthStatus outage) =>
        (failsNow, total, pool.HasKeys) switch
        {
            (true, 0, false) => (outage, "has no resource and cannot create one"),
            (true, 0, true) => (HealthStatus.Degraded, "has no resource and could not create one for a key"),
            (true, _, _) => (HealthStatus.Degraded, "serves what it has and cannot create more"),
            _ => (HealthStatus.Degraded, "has no resource, and the last creation failed"),
        };

    /// <summary>Rents as a caller would, unless the pool is busy or that is switched off.</summary>
    /// <returns>Why there was no resource, or null.</returns>
    private async Task<Exception?> ProbeAsync(CancellationToken cancellationToken)
    {
        if (pool.ProbeTimeout == TimeSpan.Zero || pool.FindStatistics() is not { } before
            || before.Waiting > 0 || (before.Idle == 0 && before.Leased + before.Checking + before.Creating >= before.MaxSize))
        {
            return null;
        }

        try
        {
            await pool.ProbeAsync(pool.ProbeTimeout, cancellationToken).ConfigureAwait(false);
            return null;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            return CauseOf(e);
        }
    }

    /// <summary>What the policy or the provider threw: a reader of the health page needs no more.</summary>
    private static Exception CauseOf(Exception e) =>
        e is ResourceCreateException or PooledDbException && e.InnerException is { } inner ? CauseOf(inner) : e;

    private static string Describe(ResourcePoolStatistics s) => string.Create(
        CultureInfo.InvariantCulture, $"{s.Leased} leased of {s.MaxSize}, {s.Idle} idle, {s.Waiting} waiting.");

    private static Dictionary<string, object> DataOf(ResourcePoolStatistics s) => new()
    {
        ["leased"] = s.Leased,
        ["idle"] = s.Idle,
        ["waiting"] = s.Waiting,
        ["maxSize"] = s.MaxSize,
        ["created"] = s.Created,
        ["createFailures"] = s.CreateFailures,
        ["timedOut"] = s.TimedOut,
        ["rejected"] = s.Rejected,
    };
}
