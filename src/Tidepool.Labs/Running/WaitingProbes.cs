namespace Tidepool.Labs;

/// <summary>Probes that mostly wait: each is started and has gone quiet before anything is measured, and is collected last.</summary>
internal sealed class WaitingProbes(LabRunOptions options, Action<LabProgress> progress) : IDisposable
{
    private readonly List<(LabRun Run, int Probe, LabProcess Process, ProbeReply? Early)> _started = [];
    private readonly List<(LabRun Run, int Probe, Task<ProbeReply> Reply)> _startedHere = [];

    /// <summary>Starts them and returns when all are quiet.</summary>
    public async Task StartAsync(IReadOnlyList<LabRun> runs, CancellationToken stop)
    {
        foreach (var run in runs)
        {
            foreach (int probe in run.SelectProbes(options, waits: true))
            {
                progress(new(run.Lab.Name, 0, "starting the idle process"));
                if (run.Plan.Probes[probe].StartsPrograms)
                {
                    await StartHereAsync(run, probe, stop);
                    continue;
                }

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
    public bool Covers(LabRun run) => _started.Exists(started => started.Run == run) || _startedHere.Exists(started => started.Run == run);

    /// <summary>Waits for the results.</summary>
    public async Task CollectAsync(CancellationToken stop)
    {
        foreach (var (run, probe, reply) in _startedHere)
        {
            await run.TryAsync(run.Plan.Probes[probe].Key, async () => run.AddProbe(probe, await reply));
            progress(new(run.Lab.Name, 1, "done"));
        }

        foreach (var (run, probe, process, early) in _started)
        {
            await run.TryAsync(
                run.Plan.Probes[probe].Key,
                async () => run.AddProbe(probe, early ?? await process.FinishProbeAsync(stop)));
            progress(new(run.Lab.Name, 1, "done"));
        }
    }

    private async Task StartHereAsync(LabRun run, int probe, CancellationToken stop)
    {
        var quiet = new TaskCompletionSource();
        var reply = ProbeReply.OfAsync(run.Plan.Probes[probe], () => quiet.TrySetResult(), stop);
        _startedHere.Add((run, probe, reply));
        await Task.WhenAny(quiet.Task, reply);
        progress(new(run.Lab.Name, 0, "its turn comes"));
    }

    /// <inheritdoc/>
    public void Dispose() => _started.ForEach(started => started.Process.Dispose());
}
