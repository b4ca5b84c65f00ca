namespace Tidepool.Labs;

/// <summary>Measures what it costs to lengthen one block in small steps.</summary>
internal static class NativeGrowth
{
    private static readonly Cell Cell = Cell.Of(("block", "to 256 MiB, by 64 KiB"));

    /// <summary>Adds the row of each malloc.</summary>
    public static void Describe(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Growing a block",
            About = "One block is lengthened by realloc in 4096 steps of 64 KiB, each written: "
                + "the time in realloc, and with the writing. A process of its own, once.",
            Layout = SectionLayout.Metrics,
            Varies = ["block"],
        };
        foreach (var subject in NativeSubjects.Mallocs(plan.Mode))
        {
            plan.Add(subject.NewProbe(section, Cell, site => subject.RunOnce(site, "growth")));
        }
    }
}
