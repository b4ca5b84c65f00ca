namespace Tidepool.Labs;

/// <summary>
/// Runs labs: waiting probes first, in processes of their own that then stand still; the labs one after another;
/// at last the waiting probes are collected and every rule is judged.
/// </summary>
internal sealed class LabRunner(LabRunOptions options, Action<LabProgress> progress)
{
    private const double WarmShare = 0.4;

    /// <summary>Runs the labs; a stop request ends the run early with what is done.</summary>
    public async Task<LabReport> RunAsync(IReadOnlyList<ILab> labs, CancellationToken stop)
    {
        using var folder = new RunFolder();
        return await new LabRunner(options with { Child = options.Child with { Folder = folder.Path } }, progress)
            .RunInFolderAsync(labs, stop);
    }

    private async Task<LabReport> RunInFolderAsync(IReadOnlyList<ILab> labs, CancellationToken stop)
    {
        LabRun[] runs = [.. labs.Select(lab => new LabRun(lab, LabPlan.Of(lab, options.Mode), new LabResults(options.Seed)))];
        var waiting = new WaitingProbes(options, progress);
        bool stopped = false;
        try
        {
            await waiting.StartAsync(runs, stop);
            foreach (var run in runs)
            {
                await RunProbesAsync(run, stop);
                await MeasureAsync(run, stop);
                (double fraction, string step) = waiting.Covers(run) ? (0.95, "waiting for its idle processes") : (1, "done");
                progress(new(run.Lab.Name, fraction, step) { Measured = ToOutcome(run) });
            }

            await waiting.CollectAsync(stop);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            stopped = true;
        }
        finally
        {
            waiting.Dispose();
        }

        return new LabReport(MachineInfo.OfThisMachine(), options, [.. runs.Select(ToOutcome)], stopped);
    }

    private LabOutcome ToOutcome(LabRun run) => new(
        run.Lab, run.Plan, run.Results, run.Processes, [.. run.Plan.Rules.Select(rule => rule.Judge(run.Results))]);

    private async Task RunProbesAsync(LabRun run, CancellationToken stop)
    {
        int[] probes = [.. run.SelectProbes(options, waits: false)];
        if (probes.Length == 0)
        {
            return;
        }

        foreach (var (place, index) in probes.Index())
        {
            progress(new(run.Lab.Name, 0.01, $"counting, {place + 1} of {probes.Length}"));
            var probe = run.Plan.Probes[index];
            await run.TryAsync(probe.Key, async () =>
            {
                if (probe.StartsPrograms)
                {
                    run.AddProbe(index, await ProbeReply.OfAsync(probe, () => { }, stop));
                    return;
                }

                // What one probe leaves behind in the heap or the pools must not meet the next.
                using var process = LabProcess.Start(probe.Within?.Invoke(options.Child) ?? options.Child, run.Lab.Name, options.Mode);
                await process.BeginProbeAsync(index, stop);
                var reply = await process.FinishProbeAsync(stop);
                run.AddProbe(index, await AddAfterExitAsync(probe, process, reply, stop));
            });
        }
    }

    /// <summary>Adds what is seen when the probe's process has ended, where the probe asks for it.</summary>
    private async Task<ProbeReply> AddAfterExitAsync(Probe probe, LabProcess process, ProbeReply reply, CancellationToken stop)
    {
        if (probe.AfterExit is not { } look || reply.Metrics is not { } metrics)
        {
            return reply;
        }

        await process.EndAsync(stop);
        try
        {
            return new(
                metrics.Concat(await Task.Run(() => look(new(process.Id, options.Child.Folder!)), stop))
                    .ToDictionary(metric => metric.Key, metric => metric.Value));
        }
        catch (Exception failure) when (failure is not OperationCanceledException)
        {
            throw new LabProcessException(failure.GetBaseException().Message);
        }
    }

    private async Task MeasureAsync(LabRun run, CancellationToken stop)
    {
        int[] workloads = [.. run.SelectWorkloads(options)];
        int processes = options.Processes ?? run.Plan.Processes;
        int rounds = options.Rounds ?? run.Plan.Rounds;
        var children = new List<LabProcess>();
        try
        {
            for (int number = 0; number < processes && workloads.Length > 0; number++)
            {
                children.Add(LabProcess.Start(options.Child, run.Lab.Name, options.Mode));
            }

            await WarmAsync(run, children, workloads, stop);
            for (int number = 0; number < children.Count; number++)
            {
                await MeasureInAsync(run, children, number, workloads, 0, rounds, stop);
                run.Processes = number + 1;
            }

            await DecideAsync(run, children, rounds, stop);
        }
        catch (LabProcessException failure)
        {
            run.DropWithoutSamples(workloads, failure.Message);
        }
        finally
        {
            children.ForEach(child => child.Dispose());
        }
    }

    /// <summary>Warms some processes at the same time, unmeasured; rounds begin when all have finished.</summary>
    private async Task WarmAsync(LabRun run, List<LabProcess> children, int[] workloads, CancellationToken stop)
    {
        double[] warm = new double[children.Count];
        // The whole grid holds buffers of megabytes in every pool: two at a time need no more than a laptop has.
        int together = options.Mode == LabMode.Full ? 2 : Environment.ProcessorCount + 1;
        var limit = new ParallelOptions { MaxDegreeOfParallelism = together, CancellationToken = stop };
        await Parallel.ForAsync(0, children.Count, limit, async (number, token) => await children[number].PrepareAsync(
            workloads,
            done =>
            {
                // The processes report at the same time; the listener hears one after another.
                lock (warm)
                {
                    warm[number] = done;
                    progress(new(run.Lab.Name, WarmShare * warm.Average(), "warming up"));
                }
            },
            token));
    }

    /// <summary>Doubles the rounds of what is unclear, as often as the plan allows, in the same processes.</summary>
    private async Task DecideAsync(LabRun run, List<LabProcess> children, int rounds, CancellationToken stop)
    {
        for (int doubling = 0; doubling < run.Plan.Doublings; doubling++)
        {
            int[] undecided =
            [
                .. run.Plan.Rules.SelectMany(rule => rule.Undecided(run.Results))
                    .Distinct().Where(key => options.Select?.Invoke(key) ?? true).Select(run.IndexOf).Order(),
            ];
            for (int number = 0; number < children.Count && undecided.Length > 0; number++)
            {
                await MeasureInAsync(run, children, number, undecided, rounds, rounds, stop);
            }

            rounds *= 2;
        }
    }

    private async Task MeasureInAsync(
        LabRun run, List<LabProcess> children, int number, int[] workloads, int firstRound, int rounds, CancellationToken stop)
    {
        int total = options.Processes ?? run.Plan.Processes;
        string step = firstRound == 0 ? $"process {number + 1} of {total}" : "more rounds for what is unclear";
        var request = new MeasureRequest(workloads, rounds, run.Plan.BatchMicroseconds);
        var reply = await children[number].MeasureAsync(
            request,
            done => progress(new(run.Lab.Name, firstRound == 0 ? WarmShare + ((0.9 - WarmShare) * (number + done) / total) : 0.92, step)),
            stop);
        foreach (var measured in reply.Rounds)
        {
            run.AddRounds(measured.Workload, number, firstRound, measured.Samples);
        }

        foreach (var dropped in reply.Dropped)
        {
            run.Results.Drop(run.Plan.Workloads[dropped.Workload].Key, dropped.Reason);
        }
    }
}
