namespace Tidepool.Labs.Tests.Databases;

/// <summary>The classic experiment, in child processes that end by themselves, and what is seen of it from outside.</summary>
[Trait("Category", "Environment")]
public class SessionExperimentTests
{
    private static readonly ChildCommand Child = new("dotnet", [Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll")]);

    [Fact]
    public async Task Pooled_sessions_stay_until_they_are_cleared_or_the_process_ends_and_others_do_not()
    {
        if (SqliteWitness.Missing is not null)
        {
            return; // open files cannot be listed here
        }

        var options = new LabRunOptions { Child = Child, Select = key => key.Cell["database"] == "SQLite" };

        LabReport report = await new LabRunner(options, _ => { }).RunAsync([LabCatalog.Find("connections")!], CancellationToken.None);

        LabOutcome outcome = Assert.Single(report.Labs);
        Verdict[] judged =
            [.. outcome.Verdicts.Where(verdict => verdict.Bar.Id.StartsWith("connections.sqlite.", StringComparison.Ordinal))];
        Assert.Equal(6, judged.Length);
        Assert.All(judged, verdict => Assert.True(verdict.State == VerdictState.Pass, $"{verdict.Bar.Id}: {verdict.Detail}"));
        ReportRow[] list = [.. ReportBuilder.Build(outcome).Rows.Where(row => row.Cell["list"] == "SQLite")];
        Assert.Equal(SessionExperiment.Steps, list.Select(row => row.Subject));
        Assert.Equal(Expected(pooled: true), list.Select(row => row.Metrics["its pool_count"]));
        Assert.Equal(Expected(pooled: false), list.Select(row => row.Metrics["Pooling=false_count"]));
        Assert.Equal(Expected(pooled: true), list.Select(row => row.Metrics["ours_count"]));
    }

    [Fact]
    public void The_folder_of_a_run_is_told_to_its_processes_and_gone_with_it()
    {
        string path;
        using (var folder = new RunFolder())
        {
            path = folder.Path;
            File.WriteAllText(Path.Combine(path, "left behind"), "");
            var start = (Child with { Folder = path }).ToStartInfo("connections", LabMode.Quick);
            Assert.Contains(path, start.Environment.Values);
        }

        Assert.False(Directory.Exists(path));
        Assert.Equal(Path.GetTempPath(), RunFolder.OfThisProcess);
    }

    [Fact]
    public void A_bar_that_wants_an_exact_number_fails_below_and_above_it()
    {
        Assert.Equal(VerdictState.Fail, JudgeEqual(found: 0, wanted: 1).State);
        Assert.Equal(VerdictState.Pass, JudgeEqual(found: 1, wanted: 1).State);
        Assert.Equal(VerdictState.Fail, JudgeEqual(found: 2, wanted: 1).State);
    }

    [Fact]
    public void Of_several_the_one_farthest_from_the_number_is_judged()
    {
        var results = new LabResults(seed: 1);
        WorkloadKey[] keys = [FakeLab.Ours, FakeLab.Rival];
        results.Add(keys[0], new Dictionary<string, double> { ["n_count"] = 1 });
        results.Add(keys[1], new Dictionary<string, double> { ["n_count"] = 0 });

        Verdict verdict = new EqualRule(FakeLab.BytesBar with { Limit = 1 }, "n_count", keys).Judge(results);

        Assert.Equal(VerdictState.Fail, verdict.State);
        Assert.Contains(FakeLab.Rival.Subject, verdict.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_not_run_says_why()
    {
        var results = new LabResults(seed: 1);
        results.Drop(FakeLab.Ours, "run with --postgres");

        Verdict verdict = new EqualRule(FakeLab.BytesBar, "n_count", FakeLab.Ours).Judge(results);

        Assert.Equal(VerdictState.NotRun, verdict.State);
        Assert.EndsWith(": run with --postgres", verdict.Detail, StringComparison.Ordinal);
    }

    private static Verdict JudgeEqual(double found, double wanted)
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, new Dictionary<string, double> { ["n_count"] = found });
        return new EqualRule(FakeLab.BytesBar with { Limit = wanted }, "n_count", FakeLab.Ours).Judge(results);
    }

    private static IEnumerable<double> Expected(bool pooled)
    {
        double left = pooled ? 1 : 0;
        return [0, 1, left, 1, left, 1, left, 1, left, 1, left, 0, left, 0];
    }
}
