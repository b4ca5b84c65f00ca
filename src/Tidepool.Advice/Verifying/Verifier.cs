namespace Tidepool.Advice;

/// <summary>Runs two programs in turns and compares them.</summary>
internal static class Verifier
{
    /// <summary>The fewest runs of each program that a comparison rests on.</summary>
    public const int FewestRuns = 10;

    /// <summary>Whether the n-th run is of the second program: A B B A A B B A, so that what drifts with time hits both alike.</summary>
    public static bool IsAfter(int run) => (run & 3) is 1 or 2;

    /// <summary>Runs each program once to warm up, then both in turns.</summary>
    /// <param name="before">The first program.</param>
    /// <param name="after">The second.</param>
    /// <param name="runs">How often each runs, the run that warms up left out.</param>
    /// <param name="timeout">How long one run may take.</param>
    /// <param name="progress">Told of each run before it begins.</param>
    /// <param name="stop">Ends it without a result.</param>
    /// <exception cref="TargetException">A run failed.</exception>
    /// <exception cref="OperationCanceledException">It was stopped.</exception>
    public static async Task<VerifyReport> RunAsync(
        VerifyCommand before, VerifyCommand after, int runs, TimeSpan timeout, Action<string> progress, CancellationToken stop)
    {
        using var runner = new ProgramRunner(timeout);
        List<ProgramRun> first = [];
        List<ProgramRun> second = [];
        foreach (bool isAfter in (bool[])[false, true])
        {
            string which = $"the run of --{(isAfter ? "after" : "before")} that warms up";
            progress(which);
            await runner.RunAsync(isAfter ? after : before, which, stop);
        }

        for (int i = 0; i < 2 * runs; i++)
        {
            bool isAfter = IsAfter(i);
            List<ProgramRun> list = isAfter ? second : first;
            string which = $"run {list.Count + 1} of {runs} of --{(isAfter ? "after" : "before")}";
            progress(which);
            list.Add(await runner.RunAsync(isAfter ? after : before, which, stop));
        }

        return new VerifyReport { Before = before, After = after, BeforeRuns = first, AfterRuns = second };
    }
}
