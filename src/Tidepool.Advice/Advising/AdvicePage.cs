using System.Globalization;
using System.Text;
using Tidepool.Pages;

namespace Tidepool.Advice;

/// <summary>Writes a report as one page that loads nothing, in the style of the page of the labs.</summary>
internal static class AdvicePage
{
    /// <summary>The most sites of a page; the page says how many it leaves out.</summary>
    internal const int MostSites = 200;

    /// <summary>The most pools.</summary>
    internal const int MostPools = 100;

    /// <summary>The most bytes of a page. What is cut is at its end, and said.</summary>
    internal const int MostBytes = 2_000_000;

    private const int EndBytes = 60_000;
    private const int FewestSamples = 10;
    private const int MostText = 4000;

    private const string Style =
        """
        @media (min-width: 901px) { .answer { grid-template-columns: 178px minmax(0, 1fr) 440px; } }
        .group.rate { grid-template-columns: 150px minmax(0, 1fr); }
        .bars { display: block; width: 100%; height: 72px; fill: var(--accent); }
        .bars .class { stroke: var(--bad); stroke-width: 1; vector-effect: non-scaling-stroke; }
        .curve { display: block; width: 100%; height: 110px; fill: none; stroke: var(--accent); stroke-width: 2; }
        .curve path { vector-effect: non-scaling-stroke; }
        .chart { max-width: 720px; margin: 8px 0; }
        .ends { display: flex; justify-content: space-between; color: var(--soft); font-size: 12px; }

        """;

    /// <summary>The page's text.</summary>
    public static string Write(AdviceReport report)
    {
        StringBuilder page = HtmlPage.Begin(
            $"What should {report.Target.Name} pool? Tidepool advise", $"What should {report.Target.Name} pool?", Style);
        page.Append($"<p>{Encode(Summary(report))} <a href=\"#pools\">Pools</a> <a href=\"#measured\">How it was measured</a></p>\n");
        page.Append("</header>\n<main>\n");
        int sites = WriteSites(page, report);
        int poolsLeft = WritePools(page, report.Pools);
        WriteCaps(page, report.Sites.Count - sites, poolsLeft);
        WriteMeasured(page, report);
        return page.Append("</main>\n</body>\n</html>\n").ToString();
    }

    private static string Summary(AdviceReport report)
    {
        int toPool = report.Sites.Count(static site => site.Verdict == Verdict.Pool);
        return $"Process {report.Target.Id} allocates {Rate(report.BytesPerSecond)}. Sites: {toPool} to pool, "
            + $"{report.Sites.Count(static site => site.Verdict == Verdict.DoNotPool)} not to, "
            + $"{report.Sites.Count(static site => site.Verdict == Verdict.NotEnoughEvidence)} undecided."
            + (report.Saving is { } saving
                ? $" Pooling at those to pool saves {Saving.Text(saving, report.Sampling.ProcessorsOff)}, as estimated."
                : "");
    }

    /// <summary>A row for each site, and below the rows the details of those to pool.</summary>
    /// <returns>How many sites the page has.</returns>
    private static int WriteSites(StringBuilder page, AdviceReport report)
    {
        SiteAdvice[] shown = [.. report.Sites.Where(static site => site.Site.Samples >= FewestSamples).Take(MostSites)];
        if (shown.Length == 0)
        {
            page.Append("<p class=\"note\">No site has enough samples: there is little to pool, or the program was idle.</p>\n");
            return 0;
        }

        var scale = LogScale.Of(shown.Select(static site => site.Site.BytesPerSecond));
        page.Append("<section id=\"sites\">\n<div class=\"answers\">\n<div class=\"answer scale\">");
        page.Append("<div class=\"said\">Each dot: bytes per second with the 95&nbsp;% interval; logarithmic scale.</div>");
        page.Append($"<div class=\"picture\"><div class=\"group rate\"><div class=\"beside\"></div>{scale.Ticks()}</div></div></div>\n");
        int written = 0;
        foreach (SiteAdvice site in shown)
        {
            if (!TryAppend(page, RowOf(site, written, scale)))
            {
                break;
            }

            written++;
        }

        page.Append("</div>\n</section>\n");
        foreach ((SiteAdvice site, int index) in shown.Take(written).Select(static (site, index) => (site, index)))
        {
            if (site.Verdict == Verdict.Pool && !TryAppend(page, DetailsOf(site, index, report.Sampling.ProcessorsOff)))
            {
                page.Append("<p class=\"note\">The details of further sites are left out: the page has its 2 MB.</p>\n");
                break;
            }
        }

        return written;
    }

    private static string RowOf(SiteAdvice advice, int index, LogScale scale)
    {
        AllocationSite site = advice.Site;
        (string word, string style) = advice.Verdict switch
        {
            Verdict.Pool => ("POOL", "good"),
            Verdict.DoNotPool => ("DO NOT POOL", "none"),
            _ => ("NOT ENOUGH EVIDENCE", "open"),
        };
        string type = EncodeName(TypeRules.Short(site.Type));
        string name = advice.Verdict == Verdict.Pool ? $"<a href=\"#site{index}\">{type}</a>" : $"<b>{type}</b>";
        return $"<div class=\"answer\"><div class=\"who\">{name} <span class=\"lead {style}\">{word}</span></div>\n"
            + $"<div class=\"said\"><b>{EncodeName(Cut(site.Method))}</b>{Encode(Place(site))}<br>{Encode(Cut(advice.Reason))}"
            + (site.Lifetime is { } lifetime ? $"<br>{Encode(LifetimeText.Line(lifetime))}" : "") + "</div>\n"
            + "<div class=\"picture\"><div class=\"group rate\"><div class=\"beside\">"
            + $"{Quantity.Bytes(site.BytesPerSecond.Value)}/s, {Quantity.Percent(site.Share)}</div>"
            + scale.Dot(site.BytesPerSecond, $"{Rate(site.BytesPerSecond)}, {site.Samples} samples") + "</div></div></div>\n";
    }

    private static string DetailsOf(SiteAdvice advice, int index, double? processors)
    {
        AllocationSite site = advice.Site;
        var text = new StringBuilder();
        text.Append($"<section id=\"site{index}\">\n<h3>{EncodeName(Cut(site.Method))}: {EncodeName(TypeRules.Short(site.Type))}</h3>\n");
        text.Append($"<p class=\"about\">{Encode(Rate(site.BytesPerSecond))}, {site.Samples} samples in {site.Slices} slices; ");
        text.Append($"half of the objects have up to {Quantity.Bytes(site.Quantile(0.5))}, nine tenths up to ");
        text.Append($"{Quantity.Bytes(site.Quantile(0.9))}, the largest {Quantity.Bytes(site.Quantile(1))}.</p>\n");
        text.Append(advice.Saving is { } saving ? $"<p>Saves {Encode(Saving.Text(saving, processors))}, as estimated.</p>\n" : "");
        text.Append(AdvicePictures.Sizes(site.Sizes, advice.Classes));
        if (advice.Classes.Count > 0)
        {
            text.Append($"<p>Classes of {Encode(advice.Kind ?? "")}, in bytes: {string.Join(", ", advice.Classes)}</p>\n");
        }

        return text.Append(CodeOf(advice.Before, advice.After)).Append("</section>\n").ToString();
    }

    /// <returns>How many pools the page leaves out.</returns>
    private static int WritePools(StringBuilder page, PoolReport report)
    {
        page.Append("<section id=\"pools\">\n<h2>Pools that it has</h2>\n");
        page.Append(report.Pools.Count == 0 ? "<p class=\"about\">None of Tidepool's was seen.</p>\n" : "");
        IReadOnlyList<PoolAdvice> unused = report.Unused;
        IReadOnlyList<PoolAdvice> others = report.Others;
        int written = 0;
        while (written < Math.Min(others.Count, MostPools) && TryAppend(page, DetailsOf(others[written])))
        {
            written++;
        }

        bool isFull = unused.Count > 0 && !TryAppend(page, $"<p class=\"about\">{Encode(Cut(PoolText.Unused(unused)))}</p>\n");
        page.Append("</section>\n");
        return others.Count - written + (isFull ? unused.Count : 0);
    }

    private static string DetailsOf(PoolAdvice pool)
    {
        var text = new StringBuilder();
        string hits = pool.HitRate is { } rate ? $", {Quantity.Percent(rate)} found an idle item" : "";
        text.Append($"<h3>{Encode(Cut(pool.Name))} ({Encode(pool.Kind)})</h3>\n<p class=\"about\">");
        text.Append($"{Quantity.Count(pool.RentedPerSecond)} rentals/s{hits}{PoolText.Dropped(pool)}</p>\n");
        foreach (PoolFinding finding in pool.Findings)
        {
            (string word, string style) = finding.Verdict switch
            {
                PoolVerdict.Fault => ("FAULT", "bad"),
                PoolVerdict.Suspect => ("SUSPECT", "open"),
                PoolVerdict.Change => ("CHANGE", "good"),
                PoolVerdict.Keep => ("KEEP", "none"),
                _ => ("NOT ENOUGH EVIDENCE", "open"),
            };
            text.Append($"<p><span class=\"lead {style}\">{word}</span> {Encode(finding.Subject)}: {Encode(Cut(finding.Reason))}</p>\n");
            string reports = Cut(string.Join('\n', finding.Reports));
            text.Append(reports.Length == 0 ? "" : $"<pre>{Encode(reports)}</pre>\n");
            text.Append(CodeOf(finding.Before, finding.After));
            text.Append(finding.Native is null ? "" : $"<p>For the native library:</p>\n<pre>{Encode(Cut(finding.Native))}</pre>\n");
        }

        return text.Append(AdvicePictures.HitRates(pool.HitRates)).ToString();
    }

    private static void WriteCaps(StringBuilder page, int sitesLeft, int poolsLeft)
    {
        if (sitesLeft > 0)
        {
            page.Append(
                $"<p class=\"note\">{sitesLeft} more sites are not on this page: they have fewer than {FewestSamples} samples, or the page "
                    + $"has its {MostSites} sites or its 2 MB. <code>--json FILE</code> has all of them.</p>\n");
        }

        if (poolsLeft > 0)
        {
            page.Append(
                $"<p class=\"note\">{poolsLeft} more pools are not on this page, which has at most {MostPools} and 2 MB. "
                    + "<code>--json FILE</code> has all of them.</p>\n");
        }
    }

    private static void WriteMeasured(StringBuilder page, AdviceReport report)
    {
        page.Append("<section id=\"measured\">\n<h2>How it was measured</h2>\n<div class=\"scroll\"><table class=\"facts\">\n");
        string slices = report.Sampling.Slices.Count == 1 ? "slice" : "slices";
        Fact(page, "process", $"{report.Target.Name}, {report.Target.Id}");
        if (report.Native is { } native)
        {
            foreach (string line in NativeText.Lines(report, native))
            {
                Fact(page, "native", line);
            }

            page.Append("</table></div>\n<p class=\"about\">The intervals hold the truth in 95 of 100 runs of the same load.</p>\n");
            page.Append("</section>\n");
            return;
        }

        Fact(page, "runtime", report.Target.Runtime.Length == 0 ? "not known" : $".NET {report.Target.Runtime}");
        Fact(page, "sampled", string.Create(
            CultureInfo.InvariantCulture,
            $"{report.Sampling.SampledSeconds:0.0} of {report.Sampling.Seconds:0.0} s in {report.Sampling.Slices.Count} {slices}"));
        Fact(page, "cost", report.Sampling.Cost is { } cost
            ? $"{Quantity.Percent(cost)} of its processor time; budget {Quantity.Percent(report.Budget)}"
            : "not known");
        Fact(page, "lifetimes", string.Join(' ', LifetimeText.Lines(report.Sampling).Select(static line => line.Trim()))
            .Replace("lifetimes: ", "", StringComparison.Ordinal));
        Fact(page, "lost events", report.LostEvents.ToString(CultureInfo.InvariantCulture));
        Fact(page, "collections", report.Collections.Count == 0
            ? "none"
            : string.Join(", ", report.Collections.Select(static reason => $"{reason.Reason} {Quantity.Count(reason.PerSecond)}/s")));
        page.Append("</table></div>\n<p class=\"about\">The intervals hold the truth in 95 of 100 runs of the same load. A saving of ")
            .Append("processor time is estimated from costs of allocating and renting on the machine that the report was made on, and ")
            .Append("from the pauses of this process; <code>--verify</code> measures it.</p>\n");
        page.Append("</section>\n");
    }

    private static void Fact(StringBuilder page, string name, string value) =>
        page.Append($"<tr><th scope=\"row\">{name}</th><td>{Encode(value)}</td></tr>\n");

    private static string CodeOf(string? before, string? after)
    {
        string[] lines =
        [
            .. before is null ? (string[])[] : [$"- {Cut(before)}"],
            .. after is null ? (string[])[] : [$"+ {Cut(after)}"],
        ];
        return lines.Length == 0 ? "" : $"<pre>{Encode(string.Join('\n', lines))}</pre>\n";
    }

    /// <summary>Appends what leaves room for the end of the page.</summary>
    private static bool TryAppend(StringBuilder page, string part)
    {
        // A character has three bytes at most: what needs four is two characters.
        bool hasRoom = (page.Length + part.Length) * 3L <= MostBytes - EndBytes
            || Encoding.UTF8.GetByteCount(page.ToString()) + Encoding.UTF8.GetByteCount(part) <= MostBytes - EndBytes;
        if (hasRoom)
        {
            page.Append(part);
        }

        return hasRoom;
    }

    private static string Place(AllocationSite site) =>
        site.File.Length == 0 ? "" : $"  {Path.GetFileName(site.File)}:{site.Line}";

    private static string Rate(Interval bytes) =>
        $"{Quantity.Bytes(bytes.Value)}/s ({Quantity.Bytes(bytes.Low)} to {Quantity.Bytes(bytes.High)})";

    /// <summary>What a program named may be of any length.</summary>
    private static string Cut(string text) => text.Length <= MostText ? text : text[..MostText] + "...";

    private static string Encode(string text) => HtmlPage.Encode(text);

    private static string EncodeName(string text) => HtmlPage.EncodeName(text);
}
