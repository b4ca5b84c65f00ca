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
    private (long TimedOut, long Rejected) _last;

    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        Exception? failure = await ProbeAsync(cancellationToken).ConfigureAwait(false);
        if (pool.FindStatistics() is not { } s)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, $"Pool '{pool.Name}' was shut down.");
        }

        failure ??= s.LastCreateError;
        long timedOut = s.TimedOut - Interlocked.Exchange(ref _last.TimedOut, s.TimedOut);
        long rejected = s.Rejected - Interlocked.Exchange(ref _last.Rejected, s.Rejected);
        string numbers = Describe(s);
        if (failure is not null)
        {
            string error = $"{failure.GetType().Name}: {failure.Message}";
            (HealthStatus status, string what) = s.Total == 0
                ? (context.Registration.FailureStatus, "has no resource and cannot create one.")
                : (HealthStatus.Degraded, "serves what it has and cannot create more.");
            return new HealthCheckResult(status, $"Pool '{pool.Name}' {what} {error} {numbers}", failure, DataOf(s));
        }

        if (timedOut + rejected > 0 || (s.Waiting > 0 && s.Leased >= s.MaxSize))
        {
            string why = $"{timedOut} rentals timed out and {rejected} were refused since the last check.";
            return HealthCheckResult.Degraded($"Pool '{pool.Name}' is too small for its callers: {why} {numbers}", null, DataOf(s));
        }

        return HealthCheckResult.Healthy($"Pool '{pool.Name}': {numbers}", DataOf(s));
    }

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
