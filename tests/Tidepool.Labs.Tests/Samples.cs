namespace Tidepool.Labs.Tests;

/// <summary>
/// Measurements of which one alone says little: the runtime now and then allocates some kilobytes of its own on the thread that runs.
/// </summary>
internal static class Samples
{
    /// <summary>The bytes of the middle one of five measurements.</summary>
    public static double UsualBytes(Func<Sample> measure) => Enumerable.Range(0, 5).Select(_ => measure().Bytes).Order().ElementAt(2);
}
