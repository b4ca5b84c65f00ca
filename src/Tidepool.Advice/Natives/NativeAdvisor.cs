namespace Tidepool.Advice;

/// <summary>Decides about the sites of a native program. Pure: the same site gets the same verdict.</summary>
/// <param name="slices">How many slices there were.</param>
/// <param name="window">The seconds of the window.</param>
/// <param name="pairSeconds">What a malloc and a free of a size cost.</param>
/// <param name="limits">The limits.</param>
internal sealed class NativeAdvisor(int slices, double window, Func<long, double> pairSeconds, AdviceLimits limits)
{
    private const double OneSize = 0.95;
    private const double Crossing = 0.3;
    private const long LargestClass = 32_768;

    private static readonly string[] Growing = ["std::vector", "std::string"];

    private static readonly string[] Nodes =
    [
        "std::map", "std::multimap", "std::set", "std::multiset", "std::list", "std::forward_list", "std::deque", "std::unordered_map",
        "std::unordered_multimap", "std::unordered_set", "std::unordered_multiset",
    ];

    /// <summary>The verdict on one site.</summary>
    public SiteAdvice Judge(AllocationSite site) =>
        Advisor.JudgeEvidence(site, slices, limits) ?? JudgeLifetime(site) ?? JudgeType(site) ?? JudgeGain(site) ?? Pool(site);

    private SiteAdvice? JudgeLifetime(AllocationSite site) => site.Lifetime switch
    {
        { } known when known.Followed < limits.Samples => Unknown(site, known.Followed),
        { Kept: var kept } when kept.Low > limits.Surviving => Advisor.Not(
            site,
            $"{LifetimeText.Share(kept)} of these bytes live for {Seconds(NativeSites.KeptSeconds(window))} and more: what is kept is no "
                + "case for a pool."),
        { Kept: var kept } when kept.High > limits.Surviving => Advisor.Undecided(
            site,
            $"{LifetimeText.Share(kept)} of these bytes live for {Seconds(NativeSites.KeptSeconds(window))} and more, and up to "
                + $"{Quantity.Percent(limits.Surviving)} would be a case for a pool. Watch for longer."),
        null => Unknown(site, 0),
        _ => null,
    };

    private SiteAdvice Unknown(AllocationSite site, int followed) => Advisor.Undecided(
        site,
        $"{followed} of them were followed for {Seconds(NativeSites.YoungSeconds(window))}; {limits.Samples} decide whether they die "
            + "young. Watch for longer.");

    /// <summary>What malloc and free take is the most that a pool can save.</summary>
    private SiteAdvice? JudgeGain(AllocationSite site)
    {
        double cost = pairSeconds(site.Quantile(0.5));
        if (site.ObjectsPerSecond.Low * cost >= limits.Processor)
        {
            return null;
        }

        string most = $"malloc and free of these take {Quantity.Percent(site.ObjectsPerSecond.Value * cost)} of a processor at "
            + $"{Quantity.Count(site.ObjectsPerSecond.Value)} a second ({Nanoseconds(cost)} a pair, measured here)";
        return site.ObjectsPerSecond.High * cost < limits.Processor
            ? Advisor.Not(site, $"{most}: a pool cannot save more.")
            : Advisor.Undecided(site, $"{most}; a pool pays from {Quantity.Percent(limits.Processor)}. Watch for longer.");
    }

    private static SiteAdvice? JudgeType(AllocationSite site) => site.Type switch
    {
        var type when Growing.Contains(type) => Advisor.Not(
            site, $"a {type} grows here: reserve the size that it will have, or keep it and clear it, which keeps its memory."),
        "std::function" => Advisor.Not(
            site, "a std::function holds a capture that is too large for it: capture less, or take the callable as a template parameter."),
        _ => null,
    };

    private SiteAdvice Pool(AllocationSite site)
    {
        double cost = site.ObjectsPerSecond.Value * pairSeconds(site.Quantile(0.5));
        string young = site.Lifetime is { DieYoung: { Value: >= 0.5 } share }
            ? $"{LifetimeText.Share(share)} of the bytes are freed within {Seconds(NativeSites.YoungSeconds(window))}"
            : $"they are freed again, {LifetimeText.Share(site.Lifetime!.Kept)} of the bytes are kept";
        bool crosses = site.FreedElsewhere is { Value: > Crossing };
        string thread = crosses ? $"; {LifetimeText.Share(site.FreedElsewhere!.Value)} are freed by another thread" : "";
        string pair = Nanoseconds(cost / site.ObjectsPerSecond.Value);
        string gain = $"malloc and free take {Quantity.Percent(cost)} of a processor ({pair} a pair)";
        string rest = $"{young}{thread}; {gain}.";
        if (Nodes.Contains(site.Type))
        {
            return crosses ? SharedNodes(site, rest) : OwnNodes(site, rest);
        }

        if (site.Type == "std::shared_ptr")
        {
            return Advisor.Advise(
                site, "objects", $"objects behind a std::shared_ptr; {rest}", "auto one = std::make_shared<T>(...);",
                "auto one = std::allocate_shared<T>(tp::allocator<T>(), ...);  // <tidepool/allocator.hpp>");
        }

        bool isOneSize = IsOneSize(site);
        string blocks = isOneSize ? $"blocks of one size, {site.Quantile(0.5)} bytes" : "blocks of several sizes";
        return isOneSize && site.Quantile(1) <= LargestClass
            ? Advisor.Advise(
                site, "objects", $"{blocks}; {rest}", "T* one = new T(...);",
                "tp::lease<T> one = pool.rent(...);  // tp::pool<T> pool; of <tidepool/pool.hpp>")
            : Advisor.Advise(
                site, "buffers", $"{blocks}; {rest}", "char* bytes = new char[n];",
                "auto bytes = tp::rent<char>(n);  // <tidepool/buffer.hpp>");
    }

    /// <summary>Nodes of one thread: the standard library's own pool needs no lock.</summary>
    private static SiteAdvice OwnNodes(AllocationSite site, string rest) => Advisor.Advise(
        site, "resource", $"the nodes of a {site.Type}; {rest}", $"{site.Type}<...> nodes;",
        $"std::pmr::unsynchronized_pool_resource pool;  std::pmr::{site.Type[5..]}<...> nodes(&pool);  // one thread at a time");

    private static SiteAdvice SharedNodes(AllocationSite site, string rest) => Advisor.Advise(
        site, "resource", $"the nodes of a {site.Type}; {rest}", $"{site.Type}<...> nodes;",
        $"std::pmr::{site.Type[5..]}<...> nodes(tp::shared_resource());  // <tidepool/memory_resource.hpp>");

    private static bool IsOneSize(AllocationSite site) =>
        site.Sizes.Max(static size => size.Objects) >= OneSize * site.Sizes.Sum(static size => size.Objects);

    private static string Seconds(double seconds) => Quantity.Time(seconds * 1000);

    private static string Nanoseconds(double seconds) => FormattableString.Invariant($"{seconds * 1e9:0} ns");
}
