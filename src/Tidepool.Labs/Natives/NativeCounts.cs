namespace Tidepool.Labs;

/// <summary>Instructions and conditional branches of one malloc and one free.</summary>
internal static class NativeCounts
{
    private static readonly Cell CallCell = Cell.Of(("call", "64 bytes, a block is at hand"));

    /// <summary>Adds probes and verdicts.</summary>
    public static void Describe(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Instructions",
            About = "Of malloc(64) and of free through the shared library, when the thread has a free block at hand: counted by "
                + "stepping a child through the calls, not sampled.",
            Layout = SectionLayout.Metrics,
            Varies = ["call"],
        };
        foreach (var subject in NativeSubjects.Mallocs(plan.Mode))
        {
            plan.Add(subject.NewProbe(
                section,
                CallCell,
                site => NativeBuild.Program("count") is { } program
                    ? NativeTool.Run(program, subject.LibraryPath is { } library ? [library] : [], site)
                    : null,
                otherwise: NativeBuild.Missing));
        }

        var ours = new WorkloadKey(CallCell, NativeSubjects.Shared.Name);
        plan.Add(new MetricRule(Bars.MallocInstructions, "malloc_instructions_count", ours));
        plan.Add(new MetricRule(Bars.FreeInstructions, "free_instructions_count", ours));
        plan.Add(new MetricRule(Bars.MallocBranches, "malloc_branches_count", ours));
        plan.Add(new MetricRule(Bars.FreeBranches, "free_branches_count", ours));
    }
}
