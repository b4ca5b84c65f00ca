using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Writes what is different of a native program.</summary>
internal static class NativeText
{
    /// <summary>How it was looked at.</summary>
    public static IEnumerable<string> Lines(AdviceReport report, NativeWindow native)
    {
        double seconds = report.Sampling.Seconds;
        yield return string.Create(
            CultureInfo.InvariantCulture,
            $"native: one byte in {native.MeanBytes:n0} sampled for {seconds:0.0} s from its start; {EndOf(native)}");
        yield return $"lifetimes: young is freed within {Quantity.Time(NativeSites.YoungSeconds(seconds) * 1000)}, kept lives for "
            + $"{Quantity.Time(NativeSites.KeptSeconds(seconds) * 1000)} and more";
        if (native.OtherProcesses > 0)
        {
            yield return $"{native.OtherProcesses} other processes of the command allocated less and are left out.";
        }

        if (native.LacksNames)
        {
            yield return $"Places have no names, because addr2line is missing: {AddressNames.HowToInstall}";
        }

        if (report.LostEvents > 0)
        {
            yield return $"{report.LostEvents} records found no room.";
        }

        if (report.Sites.Count == 0)
        {
            yield return AdviceText.NothingSampled;
        }
    }

    /// <summary>Within what time half of a site's bytes are freed, as the end of a line.</summary>
    public static string Release(AllocationSite site) =>
        site.HalfFreedWithin is { } half ? $"; half are freed within {Short(half)}" : "";

    private static string Short(double seconds) => seconds < 0.001
        ? string.Create(CultureInfo.InvariantCulture, $"{seconds * 1e6:0.#} µs")
        : Quantity.Time(seconds * 1000);

    private static string EndOf(NativeWindow native) => native.ExitCode is { } code ? $"ended with code {code}" : "stopped then";
}
