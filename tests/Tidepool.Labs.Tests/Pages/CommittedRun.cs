using System.Text.Json;

namespace Tidepool.Labs.Tests.Pages;

/// <summary>The committed results as if they had just been measured.</summary>
internal static class CommittedRun
{
    public static (LabReport Report, IReadOnlyList<ReportLab> Labs) Read()
    {
        MachineResults machine = ResultFolder.Read(Repository.Root)[0];
        var measured = LabCatalog.All.Where(lab => machine.Labs.ContainsKey(lab.Name)).ToList();
        var info = machine.Labs[measured[0].Name].File.Machine.Deserialize<MachineInfo>(JsonSerializerOptions.Web)!;
        LabOutcome[] outcomes =
        [
            .. measured.Select(lab => new LabOutcome(
                lab, LabPlan.Of(lab, LabMode.Full), new LabResults(seed: 1), 7, machine.Labs[lab.Name].Lab.Verdicts)),
        ];
        var options = new LabRunOptions { Mode = LabMode.Full, Child = new ChildCommand("none", []) };
        return (new LabReport(info, options, outcomes, Stopped: false), [.. measured.Select(lab => machine.Labs[lab.Name].Lab)]);
    }
}
