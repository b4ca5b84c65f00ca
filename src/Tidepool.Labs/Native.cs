namespace Tidepool.Labs;

/// <summary>Lab <c>native</c>: the C++ pool against the classic and the best.</summary>
internal sealed class NativeLab : ILab
{
    /// <inheritdoc/>
    public string Name => "native";

    /// <inheritdoc/>
    public string Question => "The C++ pool against the classic and the best: how fast, and how much memory?";

    /// <inheritdoc/>
    public string Headline => NativeSubjects.Shared.Name;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics { get; } =
    [
        Classic("one thread: allocate", size => NativeTimes.PhasePoint(LoopPhase.Renting, size)),
        Classic("one thread: free", size => NativeTimes.PhasePoint(LoopPhase.Returning, size)),
        Classic("one thread: allocate + free", size => NativeGrid.Point(NativeGrid.Bulk, size, 1)),
        Classic("16 threads: allocate + free", size => NativeGrid.Point(NativeGrid.Bulk, size, NativeGrid.Many)),
        Classic("one thread: stress (free every third block, allocate again)", size => NativeGrid.Point(NativeGrid.Stress, size, 1)),
        Classic("16 threads: stress", size => NativeGrid.Point(NativeGrid.Stress, size, NativeGrid.Many)),
    ];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        // A driver warms each batch up by itself, and many threads need long ones: fewer rounds than elsewhere say as much.
        plan.Rounds = plan.Mode == LabMode.Full ? 4 : 3;
        plan.Doublings = plan.Mode == LabMode.Full ? 1 : 0;
        if (plan.Mode == LabMode.Full)
        {
            plan.Processes = 9;
        }

        NativeSubjects.DescribeRivals(plan);
        NativeTimes.Describe(plan);
        NativeFaces.Describe(plan);
        NativeResidency.Describe(plan);
        NativeGrowth.Describe(plan);
        NativeCounts.Describe(plan);
        NativePrograms.Describe(plan);
        NativeLeases.Describe(plan);
    }

    private static ClassicMatch Classic(string experiment, Func<int, Cell> cell) =>
        new(
            experiment,
            row => new(cell(int.Parse(row["size_B"], System.Globalization.CultureInfo.InvariantCulture)), NativeSubjects.MutexPool.Name))
        {
            Time = "pool_us",
            Cell = ["size_B"],
            Rival = ("vector_us", NativeSubjects.Vector.Name),
            Ours = [NativeSubjects.Shared.Name, NativeSubjects.Zeroed.Name],
        };
}
