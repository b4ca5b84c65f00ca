using System.Diagnostics;

namespace Tidepool.Labs.Tests.Databases;

/// <summary>The labs that need a server, as a user runs them.</summary>
public class DatabaseLabTests
{
    private static readonly string[] Exact =
    [
        "connections.sqlite.", "connections.postgres.", "connections.mysql.", "connections.killed",
        "connections.faults.", "connections.recovery.failed", "connections.recovery.tries", "ef.backends", "ef.unpooled",
    ];

    [Theory]
    [InlineData("connections")]
    [InlineData("ef")]
    public void Without_the_option_the_verdicts_that_need_a_server_are_not_run_and_name_it(string lab)
    {
        LabPlan plan = LabPlan.Of(LabCatalog.Find(lab)!, LabMode.Quick);
        var results = new LabResults(seed: 1);
        foreach (var probe in plan.Probes.Where(probe => probe.Key.Cell["database"] != "SQLite"))
        {
            Assert.Null(probe.Run(new ProbeSite(() => { })));
            results.Drop(probe.Key, probe.Missing);
        }

        foreach (var workload in plan.Workloads.Where(workload => !workload.Section.Title.Contains("SQLite", StringComparison.Ordinal)))
        {
            Assert.Null(workload.Create());
            results.Drop(workload.Key, workload.Missing);
        }

        Verdict[] verdicts =
            [.. plan.Rules.Where(rule => !rule.Bar.Id.Contains("sqlite", StringComparison.Ordinal)).Select(rule => rule.Judge(results))];
        Assert.NotEmpty(verdicts);
        Assert.All(verdicts, verdict =>
        {
            Assert.Equal(VerdictState.NotRun, verdict.State);
            string option = verdict.Bar.Id.StartsWith("connections.mysql.", StringComparison.Ordinal) ? "--mysql" : "--postgres";
            Assert.EndsWith($"run with {option}", verdict.Detail, StringComparison.Ordinal);
        });
    }

    [Servers.DatabasesFact]
    [Trait("Category", "Slow")]
    public async Task With_the_option_every_exact_verdict_passes_and_no_row_is_missing()
    {
        string file = Path.GetTempFileName();
        try
        {
            using var tool = Process.Start(new ProcessStartInfo(
                "dotnet",
                [
                    Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll"),
                    "lab", "connections", "ef", "--postgres", "--mysql", "--json", file,
                ])
            {
                RedirectStandardOutput = true,
            })!;
            string output = await tool.StandardOutput.ReadToEndAsync();
            await tool.WaitForExitAsync();

            Assert.True(tool.ExitCode == 0, output);
            ResultFile results = ResultJson.Read(await File.ReadAllTextAsync(file));
            Assert.Equal(["connections", "ef"], results.Labs.Select(lab => lab.Name));
            Assert.All(results.Labs.SelectMany(lab => lab.Verdicts), verdict => Assert.NotEqual(VerdictState.NotRun, verdict.State));
            Assert.All(
                results.Labs.SelectMany(lab => lab.Verdicts).Where(
                    verdict => Exact.Any(id => verdict.Bar.Id.StartsWith(id, StringComparison.Ordinal))),
                verdict => Assert.True(verdict.State == VerdictState.Pass, $"{verdict.Bar.Id}: {verdict.Detail}"));
            Assert.DoesNotContain(NumberText.NotMeasured, output, StringComparison.Ordinal);
        }
        finally
        {
            File.Delete(file);
        }
    }
}
