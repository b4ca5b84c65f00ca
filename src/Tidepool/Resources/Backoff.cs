namespace Tidepool;

/// <summary>
/// Decides when creations are attempted after one has failed, and which failures are reported to a caller. A function of moments and
/// random numbers: it has no clock and no timer. The rule and what follows from it: docs/design/resources.md, "After a failed creation".
/// </summary>
internal struct Backoff
{
    /// <summary>The longest pause while a caller waits, in milliseconds, unless BackoffMin is longer.</summary>
    internal const long LongestForCallers = 1000;

    private long _since;
    private long _callersUntil;
    private long _idleUntil;
    private long _quietUntil;
    private int _reported;

    public Backoff()
    {
    }

    /// <summary>Failures since the last success; those of one moment are one.</summary>
    internal int Failures { get; private set; }

    /// <summary>The last creation failed: one attempt at a time.</summary>
    internal readonly bool IsProbing => Failures > 0;

    /// <summary>The last creation failed for a reason that lasts: rentals do not wait for the next attempt.</summary>
    internal bool IsPermanent { get; private set; }

    /// <summary>No creation begins before this moment.</summary>
    /// <param name="isWaitedFor">A caller waits for it. That hurries nothing when the failure lasts: the caller was told.</param>
    internal readonly long Until(bool isWaitedFor) =>
        Failures == 0 ? long.MinValue : isWaitedFor && !IsPermanent ? _callersUntil : _idleUntil;

    /// <summary>How long creations have failed; zero when the last one succeeded.</summary>
    internal readonly long FailingFor(long now) => Failures == 0 ? 0 : now - _since;

    /// <summary>Notes a failed creation.</summary>
    /// <param name="settings">The shortest and the longest pause.</param>
    /// <param name="attempt"><see cref="Failures"/> when that creation began: those of creations that ran side by side count once.</param>
    /// <param name="isPermanent">Whether the next attempt will fail in the same way.</param>
    /// <param name="now">The time.</param>
    /// <param name="draw">Shortens the pauses by up to a half, so that pools do not knock in step; 0 to 1.</param>
    internal void Fail(ResourceSettings settings, int attempt, bool isPermanent, long now, double draw)
    {
        if (attempt != Failures)
        {
            IsPermanent |= isPermanent && Failures > 0;
            return;
        }

        _since = Failures == 0 ? now : _since;
        Failures++;
        IsPermanent = isPermanent;
        long failing = now - _since;
        long idle = Math.Clamp(failing, settings.BackoffMin, settings.BackoffMax);
        long callers = Math.Max(settings.BackoffMin, Math.Min(LongestForCallers, Math.Min(settings.BackoffMax, failing / 10)));
        _idleUntil = now + Shorten(idle, draw);
        _callersUntil = now + Shorten(callers, draw);
    }

    /// <summary>
    /// Whether a failed creation is reported to a caller. All that began before the first failure are; later ones are attempts for all
    /// who wait, and one is reported each time that a pause has passed which doubles with each report.
    /// </summary>
    /// <param name="settings">The shortest and the longest pause.</param>
    /// <param name="attempt"><see cref="Failures"/> when that creation began.</param>
    /// <param name="now">The time.</param>
    internal bool TryReport(ResourceSettings settings, int attempt, long now)
    {
        if (attempt > 0 && !IsPermanent && now < _quietUntil)
        {
            return false;
        }

        long pause = settings.BackoffMin;
        for (int i = 0; i <= _reported && pause < settings.BackoffMax; i++)
        {
            pause *= 2;
        }

        _reported++;
        _quietUntil = now + Math.Min(pause, settings.BackoffMax);
        return true;
    }

    /// <summary>Forgets all failures: a creation succeeded, or the owner of the pool wants it tried anew.</summary>
    internal void End() => this = new Backoff();

    private static long Shorten(long pause, double draw) => Math.Max(1, pause - (long)(pause / 2.0 * draw));
}
