namespace Tidepool;

/// <summary>The wait after failed creations: doubles with each, and is drawn from a tenth of the step to the whole step, so that pools do not knock in step.</summary>
internal struct Backoff
{
    private int _failures;

    public Backoff()
    {
    }

    /// <summary>No creation begins before this moment.</summary>
    internal long Until { get; private set; } = long.MinValue;

    /// <summary>The last creation failed: one probe at a time.</summary>
    internal readonly bool IsProbing => _failures > 0;

    /// <summary>The last creation failed for a reason that lasts: rentals do not wait for the next attempt.</summary>
    internal bool IsLasting { get; private set; }

    internal void Fail(ResourceSettings settings, bool isLasting, long now, double draw)
    {
        IsLasting = isLasting;
        long step = settings.BackoffMin;
        for (int i = 0; i < _failures && step < settings.BackoffMax; i++)
        {
            step *= 2;
        }

        step = Math.Min(step, settings.BackoffMax);
        _failures++;
        Until = now + Math.Max(1, (long)((step * 0.1) + (step * 0.9 * draw)));
    }

    internal void Succeed() => (_failures, Until, IsLasting) = (0, long.MinValue, false);
}
