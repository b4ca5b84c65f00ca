namespace Tidepool.Labs;

/// <summary>
/// The measuring side: a fresh process that makes the same plan as its parent, then answers one request after
/// another until its input ends. Only messages go to its standard output.
/// </summary>
internal static class ChildProgram
{
    /// <summary>First argument of a child; the arguments after it are the lab's name and its mode.</summary>
    public const string Argument = "--child";

    /// <summary>Runs until the input ends.</summary>
    public static int Run(string labName, string mode)
    {
        // The terminal sends Ctrl+C to the whole group; the parent decides when its children end.
        Console.CancelKeyPress += (_, pressed) => pressed.Cancel = true;
        using var output = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true };
        Console.SetOut(Console.Error);
        var lab = LabCatalog.Find(labName) ?? throw new ArgumentException($"There is no lab '{labName}'.");
        var plan = LabPlan.Of(lab, Enum.Parse<LabMode>(mode));
        var runner = new RoundRunner(plan);

        while (Console.In.ReadLine() is { } line)
        {
            ChildMessage reply;
            try
            {
                reply = Answer(MessageLine.Read<ChildRequest>(line), plan, runner, message => output.WriteLine(MessageLine.Write(message)));
            }
            catch (Exception failure)
            {
                reply = new ChildMessage(Failure: failure.ToString());
            }

            // It waits now, and so do its siblings: what it needs no more must not be missing to others.
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
            output.WriteLine(MessageLine.Write(reply));
        }

        return 0;
    }

    private static ChildMessage Answer(ChildRequest request, LabPlan plan, RoundRunner runner, Action<ChildMessage> send)
    {
        if (request.Prepare is { } workloads)
        {
            runner.Prepare(workloads, done => send(new ChildMessage(Progress: done)));
            return new ChildMessage(Prepared: true);
        }

        if (request.Measure is { } measure)
        {
            return new ChildMessage(Measured: runner.Measure(measure, done => send(new ChildMessage(Progress: done))));
        }

        var site = new ProbeSite(() => send(new ChildMessage(Quiet: true)));
        var probe = plan.Probes[request.Probe ?? throw new ArgumentException("An empty request.")];
        return new ChildMessage(Probed: new ProbeReply(probe.Run(site)));
    }
}
