namespace Tidepool.Labs.Tests.Output;

public class ReportLabTests
{
    [Fact]
    public void Times_stand_in_the_ratios_of_paired_rounds_and_not_in_that_of_medians()
    {
        // In two of three rounds ours takes half of the time; the machine was slow in other rounds of the one than of the other.
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Rival, 0, 0, [At(10), At(10), At(100)]);
        results.Add(FakeLab.Ours, 0, 0, [At(5), At(50), At(50)]);

        ReportRow[] rows = [.. ReportBuilder.Build(FakeLab.Report(results).Labs[0]).Rows];
        ReportRow rival = rows.Single(row => row.Key == FakeLab.Rival);
        ReportRow ours = rows.Single(row => row.Key == FakeLab.Ours);

        Assert.Equal(10, rival.MedianNs!.Value, 9);
        Assert.Equal(50, ours.MedianNs!.Value, 9); // which says five times as long
        Assert.Equal(0.5, ours.Ratio!.Value.Value, 9);
        Assert.Equal(10, rival.TimeNs!.Value, 9);
        Assert.Equal(5, ours.TimeNs!.Value, 9);
    }

    [Fact]
    public void No_row_of_the_committed_results_contradicts_itself()
    {
        var (report, labs) = Pages.CommittedRun.Read();
        foreach (ReportSection section in report.Labs.Zip(labs).SelectMany(pair => ReportBuilder.Group(pair.First.Plan, pair.Second.Rows)))
        {
            foreach (var cell in section.Cells)
            {
                double? usual = cell.FirstOrDefault(row => row.Subject == row.Baseline)?.TimeNs;
                foreach (ReportRow row in cell.Where(row => row.Ratio is not null && usual is not null))
                {
                    Assert.Equal(row.Ratio!.Value.Value, row.TimeNs!.Value / usual!.Value, 9);
                }
            }
        }
    }

    private static Sample? At(double nanoseconds) => new Sample(nanoseconds, 0, 0, 0, 0);
}
