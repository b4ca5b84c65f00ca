namespace Tidepool.Labs;

/// <summary>Probes that mostly wait: each is started and has gone quiet before anything is measured, and is collected last.</summary>
internal sealed class WaitingProbes(LabRunOptions options, Action<LabProgress> progress) : IDisposable
{
    private readonly List<(LabRun Run, int Probe, LabProcess Process, ProbeReply? Early)> _started = [];

    /// <summary>Starts them and returns when all are quiet.</summary>
    public async Task StartAsync(IReadOnlyList<LabRun> runs, CancellationToken stop)
    {
        foreach (var run in runs)
        {
            foreach (int probe in run.SelectProbes(options, waits: true))
            {
                progress(new(run.Lab.Name, 0, "starting the idle process"));
                await run.TryAsync(run.Plan.Probes[probe].Key, async () =>
                {
                    var process = LabProcess.Start(options.Child, run.Lab.Name, options.Mode);
                    int place = _started.Count;
                    _started.Add((run, probe, process, null));
                    await process.BeginProbeAsync(probe, stop);
                    _started[place] = (run, probe, process, await process.WaitUntilQuietAsync(stop));
                    progress(new(run.Lab.Name, 0, "its turn comes"));
                });
            }
        }
    }

    /// <summary>Whether that lab has a probe that waits.</summary>
    public bool Covers(LabRun run) => _started.Exists(started => started.Run == run);

    /// <summary>Waits for the results.</summary>
    public async Task CollectAsync(CancellationToken stop)
    {
        foreach (var (run, probe, process, early) in _started)
        {
            await run.TryAsync(
                run.Plan.Probes[probe].Key,
                async () => run.AddProbe(probe, early ?? await process.FinishProbeAsync(stop)));
            progress(new(run.Lab.Name, 1, "done"));
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _started.ForEach(started => started.Process.Dispose());
}
