using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Writes what is known of lifetimes, and what is assumed where nothing is.</summary>
internal static class LifetimeText
{
    /// <summary>What the lifetimes of the whole report rest on, and what following them cost.</summary>
    public static IEnumerable<string> Lines(SamplingResult sampling)
    {
        if (sampling.Lifetimes is not { } window)
        {
            yield return "lifetimes: not followed. POOL assumes the worst: that all that outlived a";
            yield return "  collection came from its site. --lifetimes follows them.";
            yield break;
        }

        string end = window.IsFull ? ", which is as much as it may" : "";
        yield return $"lifetimes: followed for {Number(window.Seconds, "0.0")} s through {window.Collections} collections; "
            + $"it wrote {Quantity.Bytes(window.StreamBytes)}{end}";
        string busy = window is { ProcessorsBefore: { } before, ProcessorsWithin: { } within }
            ? $"processors busy {Number(before, "0.00")} before, {Number(within, "0.00")} within"
            : "its processor time is not known";
        yield return $"  cost: {busy};";
        yield return $"  collections paused it for {Quantity.Percent(window.PausedBefore)} of the time before, "
            + $"{Quantity.Percent(window.PausedWithin)} within";
        if (window.LostEvents > 0)
        {
            yield return $"  {window.LostEvents} events of collections were lost, so no lifetime is known: what outlived one is bounded.";
        }
    }

    /// <summary>How long the objects of one site live.</summary>
    public static string Line(SiteLifetime lifetime) =>
        $"of {lifetime.Followed} followed: {Share(lifetime.DieYoung)} die young, {Share(lifetime.Kept)} kept";

    /// <summary>A share with its interval.</summary>
    public static string Share(Interval share) =>
        $"{Quantity.Percent(share.Value)} ({Quantity.Percent(share.Low)} to {Quantity.Percent(share.High)})";

    private static string Number(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}
