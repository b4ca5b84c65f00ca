namespace Tidepool.Labs.Tests.Docs;

public class ClassicsTests
{
    [Fact]
    public void Every_experiment_has_rows_for_its_columns() =>
        Assert.All(Classics.All, experiment =>
        {
            Assert.NotEmpty(experiment.Rows);
            Assert.All(experiment.Rows, row => Assert.Equal(experiment.Columns, row.Keys));
        });

    [Fact]
    public void The_arrays_experiment_has_four_types_six_lengths_and_three_subjects()
    {
        var rows = Classics.All.Single(experiment => experiment.Lab == "arrays").Rows;

        Assert.Equal(4 * 6 * 3, rows.Count);
        Assert.Equal("9.006", rows[0]["mean_ns"]);
    }

    [Fact]
    public void Every_published_experiment_of_a_lab_is_repeated_by_it() =>
        Assert.All(LabCatalog.All, lab => Assert.Equal(
            Classics.All.Where(experiment => experiment.Lab == lab.Name).Select(experiment => experiment.Name),
            lab.Classics.Select(match => match.Experiment)));

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Every_published_row_has_its_workload(string mode) =>
        Assert.All(LabCatalog.All, lab =>
        {
            var plan = LabPlan.Of(lab, Enum.Parse<LabMode>(mode));
            var measured = plan.Workloads.Select(workload => workload.Key).Concat(plan.Derived.Select(row => row.Key)).ToHashSet();
            foreach (var match in lab.Classics)
            {
                var rows = Classics.All.Single(experiment => experiment.Lab == lab.Name && experiment.Name == match.Experiment).Rows;
                string[] subjects = match.Rival is { } rival ? [.. match.Ours, rival.Subject] : [];
                Assert.All(rows, row => Assert.Contains(match.Match(row), measured));
                Assert.All(
                    rows,
                    row => Assert.All(subjects, subject => Assert.Contains(match.Match(row) with { Subject = subject }, measured)));
            }
        });
}
