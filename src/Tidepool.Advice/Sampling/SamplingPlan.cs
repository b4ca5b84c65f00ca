namespace Tidepool.Advice;

/// <summary>Decides how long the stack session is on, so that the process pays no more than its budget.</summary>
internal static class SamplingPlan
{
    /// <summary>How long a process is looked at, unless told.</summary>
    public const int DefaultSeconds = 30;

    /// <summary>The share of the processor time of the process that samples may cost, unless told.</summary>
    public const double DefaultBudget = 0.03;

    /// <summary>In how many slices the session is on: a burst is in few of them.</summary>
    public const int Slices = 5;

    /// <summary>The first slice, which shows the rate of samples.</summary>
    public const double FirstSeconds = 0.25;

    /// <summary>Processor time of one sample with its stack, an upper bound: walking a deep managed stack.</summary>
    public const double SampleSeconds = 25e-6;

    /// <summary>Processor time of naming the methods once, at the end; measured 5 to 10 ms for a small program.</summary>
    public const double NamingSeconds = 0.02;

    private const double ShortestSeconds = 0.05;
    private const double MostShare = 0.8;

    /// <summary>The length of each slice after the first.</summary>
    /// <param name="window">The seconds of the whole run.</param>
    /// <param name="samplesPerSecond">How many samples came per second while the session was on.</param>
    /// <param name="processors">How many processors the process keeps busy.</param>
    /// <param name="budget">The share of that time which sampling may cost.</param>
    public static double SliceSeconds(double window, double samplesPerSecond, double processors, double budget)
    {
        double busy = Math.Max(processors, 0.01);
        double whileOn = samplesPerSecond * SampleSeconds / busy;
        double forSamples = Math.Max(0, budget - NamingSeconds / (busy * window));
        double share = whileOn <= forSamples ? MostShare : Math.Min(MostShare, forSamples / whileOn);
        double left = Math.Max(0, window * share - FirstSeconds);
        return Math.Clamp(left / (Slices - 1), ShortestSeconds, window * MostShare / Slices);
    }
}
