namespace Tidepool;

/// <summary>Checks the options of a pool.</summary>
internal static class PoolOption
{
    /// <summary>Refuses an option that is out of range.</summary>
    /// <param name="isGood">Whether it is in range.</param>
    /// <param name="value">The option's value.</param>
    /// <param name="rule">Its name and what is allowed.</param>
    /// <param name="parameter">The caller's parameter with the options.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="isGood"/> is false.</exception>
    internal static void Check(bool isGood, object? value, string rule, string parameter = "options")
    {
        if (!isGood)
        {
            throw new ArgumentOutOfRangeException(parameter, value, rule);
        }
    }

    /// <summary>Checks what the options of buffer and object pools have in common.</summary>
    /// <exception cref="ArgumentOutOfRangeException">One of them is out of range.</exception>
    internal static void CheckCommon(int leakSampling, PoolChecks? checks)
    {
        Check(leakSampling >= 0, leakSampling, "LeakSampling must be 0 or more.");
        Check(checks is null or (>= PoolChecks.Off and <= PoolChecks.Full), (int?)checks, "Checks must be Off, Default or Full.");
    }
}
