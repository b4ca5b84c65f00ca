using System.CommandLine;
using Tidepool.Advice;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool watch</c>: what a running process allocates, collects and pools, second by second.</summary>
internal static class WatchVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "watch";

    private const int FewestWithArrayPool = 10; // 2 of baseline, 5 of events, and time to open and close the session

    private static readonly Argument<string> Target =
        new("process") { Description = "Its number, or its name or a part of it, as tidepool ps shows them.", HelpName = "PID|NAME" };

    private static readonly Option<bool> Json = new("--json") { Description = "A line of JSON a second instead of a screen." };
    private static readonly Option<bool> ArrayPool = new("--array-pool")
    {
        Description = "Count the traffic of ArrayPool for 5 seconds, after 2 of baseline: every rent and return of the process "
            + "is slower meanwhile, and what it cost is printed.",
    };

    private static readonly Option<int?> Seconds =
        new("--seconds") { Description = "Stop after so many seconds instead of when you press q.", HelpName = "N" };

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        Shows the allocation rate, collections by reason and their pauses; each pool of Tidepool; and the pools that programs use
        without asking for one (HTTP connections, Npgsql, Kestrel, the thread pool), by their meters. Keys: q quits, s sorts,
        f filters by name, a counts ArrayPool for 5 seconds. Where the output is no terminal, a frame is printed each second.

        Examples:
          tidepool watch 12345                        a live screen
          tidepool watch orders                       the one process with this in its name
          tidepool watch orders --json --seconds 60   60 lines of JSON
          tidepool watch orders --array-pool          with five seconds of ArrayPool

        Exit codes: 0 ok, also when the process ends; 2 there is no such process, or several; 3 it cannot be reached;
        130 stopped before it answered.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Shows live what a .NET process allocates, collects and pools.") { Target, Json, ArrayPool, Seconds };
        verb.Validators.Add(result =>
        {
            if (result.GetValue(Seconds) is < 1)
            {
                result.AddError($"--seconds is {result.GetValue(Seconds)}; allowed is 1 or more.");
            }
            else if (result.GetValue(ArrayPool) && result.GetValue(Seconds) is < FewestWithArrayPool)
            {
                result.AddError(
                    $"--seconds is {result.GetValue(Seconds)}; with --array-pool allowed is {FewestWithArrayPool} or more.");
            }
        });
        verb.SetAction((parsed, ended) => Attaching.RunAsync(stop => RunAsync(parsed, stop), ended));
        return verb;
    }

    private static async Task<int> RunAsync(ParseResult parsed, CancellationToken stop)
    {
        TargetProcess target = TargetCatalog.Find(parsed.GetValue(Target)!);
        using var session = WatchSession.Start(target, stop);
        var options = new WatchOptions
        {
            Json = parsed.GetValue(Json),
            ArrayPool = parsed.GetValue(ArrayPool),
            Seconds = parsed.GetValue(Seconds),
        };
        await new WatchScreen(target, session, options, stop).RunAsync(ConsoleReport.CreateConsole(), Console.Out);
        return ExitRule.Ok;
    }
}
