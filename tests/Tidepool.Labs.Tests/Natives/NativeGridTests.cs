namespace Tidepool.Labs.Tests.Natives;

/// <summary>The groups are those of the design, and every bar of a group is judged against every malloc peer.</summary>
public class NativeGridTests
{
    private static readonly string[] Peers = ["glibc", "mimalloc", "jemalloc", "tcmalloc", "tbbmalloc"];

    public static TheoryData<string, string, int[], int> Groups => new()
    {
        { "native.pair.small", NativeGrid.Pair, [32, 64, 128, 256, 512, 1024], 1 },
        { "native.pair.large", NativeGrid.Pair, [2048, 4096], 1 },
        { "native.pair.cores", NativeGrid.Pair, [.. NativeGrid.Sizes], NativeGrid.Cores },
        { "native.pair.threads", NativeGrid.Pair, [.. NativeGrid.Sizes], 16 },
        { "native.bulk.small", NativeGrid.Bulk, [32, 64, 128, 256], 1 },
        { "native.bulk.large", NativeGrid.Bulk, [512, 1024, 2048, 4096], 1 },
        { "native.bulk.cores", NativeGrid.Bulk, [.. NativeGrid.Sizes], NativeGrid.Cores },
        { "native.bulk.threads", NativeGrid.Bulk, [.. NativeGrid.Sizes], 16 },
        { "native.stress.one", NativeGrid.Stress, [.. NativeGrid.Sizes], 1 },
        { "native.stress.cores", NativeGrid.Stress, [.. NativeGrid.Sizes], NativeGrid.Cores },
        { "native.stress.threads", NativeGrid.Stress, [.. NativeGrid.Sizes], 16 },
        { "native.ring", NativeGrid.Ring, [64, 512, 4096], 2 },
    };

    [Theory]
    [MemberData(nameof(Groups))]
    public void A_full_run_measures_every_cell_of_a_group(string bar, string pattern, int[] sizes, int threads) =>
        Assert.Equal(sizes.Select(size => NativeGrid.Point(pattern, size, threads)), GroupOf(bar, LabMode.Full).Cells);

    [Theory]
    [InlineData("native.mixed.one", 1)]
    [InlineData("native.mixed.cores", 0)]
    [InlineData("native.mixed.threads", 16)]
    public void Mixed_sizes_are_one_cell(string bar, int threads) =>
        Assert.Equal([NativeGrid.MixedPoint(threads == 0 ? NativeGrid.Cores : threads)], GroupOf(bar, LabMode.Full).Cells);

    [Fact]
    public void A_quick_run_measures_some_cells_of_each_group()
    {
        foreach (var (bar, group) in new NativeGrid(LabMode.Quick).Groups)
        {
            Assert.NotEmpty(group.Cells);
            Assert.Subset(GroupOf(bar.Id, LabMode.Full).Cells.ToHashSet(), group.Cells.ToHashSet());
        }
    }

    [Fact]
    public void No_cell_is_in_two_groups()
    {
        Cell[] cells = [.. new NativeGrid(LabMode.Full).Groups.SelectMany(group => group.Group.Cells)];

        Assert.Equal(cells.Length, cells.Distinct().Count());
    }

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Each_group_is_judged_against_every_peer(string mode)
    {
        var kind = Enum.Parse<LabMode>(mode);
        var plan = LabPlan.Of(LabCatalog.Find("native")!, kind);
        foreach (var (bar, group) in new NativeGrid(kind).Groups)
        {
            var rule = Assert.Single(plan.Rules, rule => rule.Bar == bar);
            Assert.Equal(
                (from cell in @group.Cells from subject in (string[])["tidepool .so", .. Peers] select new WorkloadKey(cell, subject))
                    .ToHashSet(),
                rule.Needs.ToHashSet());
        }

        var overall = Assert.Single(plan.Rules, rule => rule.Bar == Bars.MallocOverall);
        Assert.Equal(
            plan.Rules.Where(rule => rule.Bar.Name.StartsWith("malloc, ", StringComparison.Ordinal))
                .SelectMany(rule => rule.Needs).ToHashSet(),
            overall.Needs.ToHashSet());
    }

    [Fact]
    public void The_classic_experiment_is_judged_in_every_cell()
    {
        var plan = LabPlan.Of(LabCatalog.Find("native")!, LabMode.Quick);
        var rule = Assert.Single(plan.Rules, rule => rule.Bar == Bars.VectorCell);

        Assert.Equal(2 * 2 * 8, rule.Needs.Select(key => key.Cell).Distinct().Count());
        Assert.Equal(["std::vector", "tidepool .so"], rule.Needs.Select(key => key.Subject).Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    public void A_cell_becomes_the_drivers_command()
    {
        Assert.Equal("run pair 64 16 500", NativeGrid.CommandOf(NativeGrid.Point(NativeGrid.Pair, 64, 16), 500));
        Assert.Equal("run ring 512 2 500", NativeGrid.CommandOf(NativeGrid.Point(NativeGrid.Ring, 512, 2), 500));
        Assert.Equal("run mixed 0 1 500", NativeGrid.CommandOf(NativeGrid.MixedPoint(1), 500));
    }

    private static CellGroup GroupOf(string bar, LabMode mode) => new NativeGrid(mode).Groups.Single(group => group.Bar.Id == bar).Group;
}
