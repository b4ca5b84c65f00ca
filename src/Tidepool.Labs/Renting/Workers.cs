namespace Tidepool.Labs;

/// <summary>What pools are compared with when work is slow: as many workers as a pool would have resources, and no pool.</summary>
internal static class Workers
{
    /// <summary>So many workers do the same waits one after another.</summary>
    public static Loop Work(int waits, int workers) => new AsyncLoop(_ => Task.WhenAll(Enumerable.Range(0, workers).Select(async worker =>
    {
        for (int i = worker; i < waits; i += workers)
        {
            await Task.Delay(5).ConfigureAwait(false);
        }
    })));
}
