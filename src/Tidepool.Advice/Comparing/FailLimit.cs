using System.Diagnostics.CodeAnalysis;
using System.Globalization;

namespace Tidepool.Advice;

/// <summary>What a limit is about.</summary>
internal enum LimitedMeasure
{
    /// <summary>All bytes per second.</summary>
    Bytes,

    /// <summary>The bytes per second of any one site that matters.</summary>
    Site,

    /// <summary>All collections per second.</summary>
    Collections,

    /// <summary>How many sites that came or grew should be pooled.</summary>
    Pool,

    /// <summary>How many pools have misuse that they had not before.</summary>
    Fault,
}

/// <summary>Whether a limit holds.</summary>
internal enum LimitState
{
    /// <summary>The estimate is within the limit.</summary>
    Held,

    /// <summary>The estimate is above it, its interval is not: that does not fail.</summary>
    NotDecided,

    /// <summary>The whole interval is above it.</summary>
    Exceeded,
}

/// <summary>A limit with what was found.</summary>
/// <param name="Limit">The limit.</param>
/// <param name="State">Whether it holds.</param>
/// <param name="Found">What was found, in a few words.</param>
internal sealed record LimitResult(FailLimit Limit, LimitState State, string Found);

/// <summary>A limit of <c>--fail-on</c>, such as <c>bytes:+5%</c>.</summary>
/// <param name="Measure">What it limits.</param>
/// <param name="Most">The most that is allowed: a share for rates (0.05 for 5 %), else a number.</param>
/// <param name="Text">As it was typed.</param>
internal sealed record FailLimit(LimitedMeasure Measure, double Most, string Text)
{
    /// <summary>What may be typed, for messages.</summary>
    public const string Allowed = "bytes:+5%, site:+20%, collections:+10%, pool:+0 or fault:+0";

    private const double MostPercent = 10_000;
    private const double MostCount = 1000;

    private bool IsRate => Measure is LimitedMeasure.Bytes or LimitedMeasure.Site or LimitedMeasure.Collections;

    /// <summary>Reads a limit the same way in every language.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out FailLimit? limit)
    {
        limit = null;
        string[] parts = text.Split(":+");
        if (parts.Length != 2 || MeasureOf(parts[0]) is not { } measure)
        {
            return false;
        }

        var parsed = new FailLimit(measure, 0, text);
        bool hasPercent = parts[1].EndsWith('%');
        NumberStyles style = parsed.IsRate ? NumberStyles.AllowDecimalPoint : NumberStyles.None;
        if (hasPercent != parsed.IsRate
            || !double.TryParse(parts[1].TrimEnd('%'), style, CultureInfo.InvariantCulture, out double most)
            || !(most <= (parsed.IsRate ? MostPercent : MostCount)))
        {
            return false;
        }

        limit = parsed with { Most = parsed.IsRate ? most / 100 : most };
        return true;
    }

    /// <summary>Looks whether it holds.</summary>
    public LimitResult Check(AdviceDiff diff) => Measure switch
    {
        LimitedMeasure.Bytes => CheckRate(diff.Bytes),
        LimitedMeasure.Collections => CheckRate(diff.Collections),
        LimitedMeasure.Site => CheckSites(diff),
        LimitedMeasure.Pool => CheckCount(diff.Sites.Count(static site => site.After is { Verdict: Verdict.Pool }
            && site.Bytes.Word is ChangeWord.Came or ChangeWord.Grew), "site to pool came or grew", "sites to pool came or grew"),
        _ => CheckCount(
            diff.Pools.Count(static pool => pool.After == PoolVerdict.Fault), "pool is newly misused", "pools are newly misused"),
    };

    private static LimitedMeasure? MeasureOf(string word) => word switch
    {
        "bytes" => LimitedMeasure.Bytes,
        "site" => LimitedMeasure.Site,
        "collections" => LimitedMeasure.Collections,
        "pool" => LimitedMeasure.Pool,
        "fault" => LimitedMeasure.Fault,
        _ => null,
    };

    private LimitResult CheckRate(RateChange change) => new(this, StateOf(change), AdviceDiffText.ChangeOf(change));

    private LimitResult CheckSites(AdviceDiff diff)
    {
        double least = new AdviceLimits().Share;
        SiteChange[] sites = [.. diff.Sites.Where(site => site.After?.Share >= least)];
        if (sites.Length == 0)
        {
            return new LimitResult(this, LimitState.Held, $"no site has {Quantity.Percent(least)} of the bytes");
        }

        SiteChange worst = sites.OrderByDescending(site => StateOf(site.Bytes)).ThenByDescending(static site => site.Bytes.Change.Value)
            .First();
        LimitState state = StateOf(worst.Bytes);
        return new LimitResult(
            this,
            state,
            state == LimitState.Held
                ? $"each of {sites.Length} sites"
                : $"{AdviceDiffText.ChangeOf(worst.Bytes)}, {worst.Site.Method}");
    }

    private LimitResult CheckCount(int count, string one, string several) =>
        new(this, count > Most ? LimitState.Exceeded : LimitState.Held, $"{count} {(count == 1 ? one : several)}");

    private LimitState StateOf(RateChange change)
    {
        double value = change.Ratio?.Value ?? (change.Change.Value > 0 ? double.PositiveInfinity : 1);
        return change.IsAbove(Most) ? LimitState.Exceeded : value > 1 + Most ? LimitState.NotDecided : LimitState.Held;
    }
}
