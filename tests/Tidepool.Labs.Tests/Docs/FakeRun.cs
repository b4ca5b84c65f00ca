namespace Tidepool.Labs.Tests.Docs;

/// <summary>A run of lab <c>arrays</c> with made-up times: the rival 10 ns, leases 4 ns, or another time at call sites.</summary>
internal static class FakeRun
{
    public static LabReport OfArrays(double leaseAtCallSites = 4)
    {
        var lab = LabCatalog.Find("arrays")!;
        var plan = LabPlan.Of(lab, LabMode.Quick);
        var results = new LabResults(seed: 1);
        foreach (var workload in plan.Workloads)
        {
            double? time = workload.Key.Subject switch
            {
                RentalCatalog.Shared => 10,
                RentalCatalog.Lease => workload.Key.Cell["pattern"] == RentalPattern.CallSite ? leaseAtCallSites : 4,
                _ => null,
            };
            if (time is { } nanoseconds)
            {
                results.Add(workload.Key, 0, 0, FakeLab.Samples(nanoseconds, 0));
            }
        }

        var outcome = new LabOutcome(lab, plan, results, 1, [.. plan.Rules.Select(rule => rule.Judge(results))]);
        return new LabReport(
            MachineInfo.OfThisMachine(),
            new LabRunOptions { Child = new ChildCommand("none", []) },
            [outcome],
            Stopped: false);
    }

    /// <summary>What a run committed would be, read back.</summary>
    public static MachineResults MachineOf(LabReport report)
    {
        var file = ResultJson.Read(ResultJson.Write(report, [.. report.Labs.Select(ReportBuilder.Build)]));
        return new("here", file.Labs.ToDictionary(lab => lab.Name, lab => (file, lab)));
    }
}
