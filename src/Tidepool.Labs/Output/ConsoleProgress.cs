using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>
/// Runs labs while showing how far they are: a live bar for each on a terminal, one line for each otherwise. Answers come as they are
/// found.
/// </summary>
internal static class ConsoleProgress
{
    /// <summary>Runs.</summary>
    public static Task<LabReport> RunAsync(
        IAnsiConsole console, IReadOnlyList<ILab> labs, LabRunOptions options, CancellationToken stop) =>
        console.Profile.Capabilities.Interactive && !Console.IsOutputRedirected
            ? RunWithBarsAsync(console, labs, options, stop)
            : RunWithLinesAsync(console, labs, options, stop);

    private static Task<LabReport> RunWithBarsAsync(
        IAnsiConsole console, IReadOnlyList<ILab> labs, LabRunOptions options, CancellationToken stop) =>
        console.Progress()
            .Columns(
                new TaskDescriptionColumn { Alignment = Justify.Left },
                new ProgressBarColumn(),
                new PercentageColumn(),
                new ElapsedTimeColumn())
            .StartAsync(context =>
            {
                var bars = labs.ToDictionary(lab => lab.Name, lab => context.AddTask(lab.Name, maxValue: 1));
                return new LabRunner(options, progress =>
                {
                    var bar = bars[progress.Lab];
                    bar.Description = Markup.Escape($"{progress.Lab}: {progress.Step}");
                    bar.Value = Math.Max(bar.Value, progress.Fraction);
                    PrintEarly(console, labs, progress);
                }).RunAsync(labs, stop);
            });

    private static Task<LabReport> RunWithLinesAsync(
        IAnsiConsole console, IReadOnlyList<ILab> labs, LabRunOptions options, CancellationToken stop)
    {
        var started = new HashSet<string>();
        return new LabRunner(options, progress =>
        {
            if (started.Add(progress.Lab))
            {
                console.WriteLine($"{progress.Lab}: {labs.First(lab => lab.Name == progress.Lab).Question}");
            }

            PrintEarly(console, labs, progress);
        }).RunAsync(labs, stop);
    }

    /// <summary>Prints the answer of a lab while others still run, so that the first one does not wait for the last.</summary>
    private static void PrintEarly(IAnsiConsole console, IReadOnlyList<ILab> labs, LabProgress progress)
    {
        if (labs.Count > 1 && progress.Measured is { } measured)
        {
            ConsoleAnswers.PrintEarly(console, measured);
        }
    }
}
