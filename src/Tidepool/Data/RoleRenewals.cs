namespace Tidepool.Data;

/// <summary>
/// Decides whether sessions are made anew because the server refuses writes. The first refusal renews them at once, which finds the
/// writer after a failover. A session made since then that is refused too proves that renewing does not help: from then on the pause
/// between renewals doubles. A function of generations and moments, in milliseconds.
/// </summary>
internal sealed class RoleRenewals
{
    internal const long ShortestPause = 100;
    internal const long LongestPause = 10_000;

    /// <summary>After so long without a renewal the next refusal is news again: another failover.</summary>
    internal const long Memory = 60_000;

    private readonly Lock _gate = new();
    private bool _hasRenewed;
    private int _bornAfter;
    private long _renewedAt;
    private long _pause;

    /// <summary>Notes that a write was refused, on a session that has nothing of its renter left.</summary>
    /// <param name="generation">The session's generation.</param>
    /// <param name="now">The time.</param>
    /// <returns>Whether the sessions of this generation are to be made anew.</returns>
    internal bool TryRenew(int generation, long now)
    {
        lock (_gate)
        {
            bool isNews = !_hasRenewed || now - _renewedAt > Memory;
            if (!isNews && generation < _bornAfter)
            {
                return true; // it is being made anew already
            }

            if (!isNews && now - _renewedAt < _pause)
            {
                return false;
            }

            _pause = isNews ? ShortestPause : Math.Min(2 * _pause, LongestPause);
            (_hasRenewed, _bornAfter, _renewedAt) = (true, generation + 1, now);
            return true;
        }
    }

    /// <summary>Notes that a session was asked and may write.</summary>
    internal void SeeWriter()
    {
        lock (_gate)
        {
            _hasRenewed = false;
        }
    }
}
