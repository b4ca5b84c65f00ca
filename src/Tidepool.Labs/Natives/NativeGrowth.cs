namespace Tidepool.Labs;

/// <summary>Measures what it costs to lengthen one block in small steps.</summary>
internal static class NativeGrowth
{
    private const string Crowded = "crowded";

    /// <summary>Adds the rows of each malloc, and the verdict.</summary>
    public static void Describe(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Growing a block",
            About = "One block is lengthened by realloc in 4096 steps of 64 KiB, each written: the time in realloc, and with the writing. "
                + "With neighbours: after each step a block of 256 KiB or 2 MiB is rented and stays, so that no step finds free space "
                + "behind the block. A process of its own, once.",
            Layout = SectionLayout.Metrics,
            Varies = ["block"],
        };
        (Cell Cell, string[] Arguments)[] ways =
        [
            (Cell.Of(("block", "to 256 MiB, by 64 KiB")), ["growth"]),
            (Cell.Of(("block", "to 256 MiB, by 64 KiB, with neighbours")), ["growth", Crowded]),
        ];
        foreach (var (cell, arguments) in ways)
        {
            foreach (var subject in NativeSubjects.Mallocs(plan.Mode))
            {
                plan.Add(subject.NewProbe(section, cell, site => subject.RunOnce(site, arguments)));
            }
        }

        plan.Add(
            new MetricRatioRule(
                Bars.Growth,
                "realloc_ns",
                [
                    .. ways.Select(way => (
                        new WorkloadKey(way.Cell, NativeSubjects.Shared.Name), new WorkloadKey(way.Cell, NativeSubjects.CLibrary.Name)))
                ]));
    }
}
