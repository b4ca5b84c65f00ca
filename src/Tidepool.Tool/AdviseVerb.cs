using System.CommandLine;
using System.Globalization;
using Spectre.Console;
using Tidepool.Advice;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool advise</c>: what a running program should pool, and what it should not.</summary>
internal static class AdviseVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "advise";

    private const int LongestSeconds = 86_400;

    private static readonly Argument<string[]> Target = new("process")
    {
        Description = "A number or a name as tidepool ps shows them; or, after --, a command to start and its arguments.",
        HelpName = "PID|NAME | -- COMMAND [ARGS]",
        Arity = ArgumentArity.ZeroOrMore, // none with --verify
    };

    private static readonly Option<int?> Seconds =
        new("--seconds") { Description = $"How long to look; {SamplingPlan.DefaultSeconds} unless told.", HelpName = "N" };

    private static readonly Option<double?> Budget = new("--budget")
    {
        Description =
            $"The percentage of the process's processor time that samples may cost; {100 * SamplingPlan.DefaultBudget} unless told.",
        HelpName = "PERCENT",
    };

    private static readonly Option<FileInfo?> Json = new("--json") { Description = "Write every site and number.", HelpName = "FILE" };

    private static readonly Option<FileInfo?> Html =
        new("--html") { Description = "Write one page that loads nothing, of at most 2 MB.", HelpName = "FILE" };

    private static readonly Option<FileInfo?> Sarif =
        new("--sarif") { Description = "Write what should change as SARIF 2.1.0, for code hosts and editors.", HelpName = "FILE" };

    private static readonly Option<bool> Rentals = new("--rentals")
    {
        Description = "Listen to each rental of every pool for five seconds afterwards: sizes, capacity, double returns. Prints its cost.",
    };

    private static readonly Option<bool> Lifetimes = new("--lifetimes")
    {
        Description = "Follow the samples through collections: what dies young, what is kept. Each collection takes longer meanwhile; "
            + $"its cost is printed, and --seconds may be {SurvivalSession.LongestSeconds} at most.",
    };

    private static readonly Option<bool?> Native = new("--native")
    {
        Description = "Start the command with the native library's malloc, which samples what C and C++ allocate. Unless told, programs "
            + "of machine code that are no host of .NET.",
        HelpName = "true|false",
    };

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        Samples allocations with their stacks and says of each site: pool (which kind, which sizes, old and new code), do not
        pool (why), or not enough evidence. Needs .NET 10 in the process. A command after -- is started, and stopped at the end.

        Examples:
          tidepool advise 12345
          tidepool advise orders --seconds 60 --json advice.json --html advice.html --sarif advice.sarif
          tidepool advise orders --lifetimes
          tidepool advise --seconds 20 -- dotnet bin/Release/net10.0/Orders.dll --urls http://localhost:5000
          tidepool advise diff main.json branch.json --fail-on bytes:+5%
          tidepool advise --verify --before "dotnet old/Orders.dll" --after "dotnet new/Orders.dll"

        Exit codes: 0 ok, whatever the verdicts; 2 there is no such process, or several, or a command of --verify failed; 3 it
        cannot be reached; 130 stopped before the window began.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Says what a .NET program should pool, and what not, by what it allocates.")
        {
            Target, Seconds, Budget, Json, Html, Sarif, Rentals, Lifetimes, Native,
        };
        VerifyOptions.AddTo(verb);
        verb.Subcommands.Add(AdviseDiffVerb.Create());
        verb.Validators.Add(result =>
        {
            if (!VerifyOptions.Check(result) && result.GetValue(Target) is not { Length: > 0 })
            {
                result.AddError("say which process: a number or a name as tidepool ps shows them; or, after --, a command to start.");
            }

            foreach (Option<FileInfo?> option in (Option<FileInfo?>[])[Html, Sarif])
            {
                if (VerifyOptions.IsGiven(result) && result.GetValue(option) is not null)
                {
                    result.AddError($"{option.Name} has no use with --verify, which writes --json.");
                }
            }

            if (result.GetValue(Seconds) is < 5 or > LongestSeconds)
            {
                result.AddError($"--seconds is {result.GetValue(Seconds)}; allowed is 5 to {LongestSeconds}.");
            }

            if (result.GetValue(Lifetimes) && result.GetValue(Seconds) is > SurvivalSession.LongestSeconds)
            {
                result.AddError(
                    $"--seconds is {result.GetValue(Seconds)}; with --lifetimes allowed is 5 to {SurvivalSession.LongestSeconds}.");
            }

            if (result.GetValue(Budget) is { } budget and not (>= 0.1 and <= 50))
            {
                result.AddError(string.Create(CultureInfo.InvariantCulture, $"--budget is {budget}; allowed is 0.1 to 50."));
            }
        });
        verb.SetAction((parsed, ended) => Attaching.RunAsync(stop => RunAsync(parsed, stop), ended));
        return verb;
    }

    private static async Task<int> RunAsync(ParseResult parsed, CancellationToken stop)
    {
        string[] words = parsed.GetValue(Target) ?? [];
        if (VerifyOptions.IsGiven(parsed))
        {
            return await VerifyAsync(parsed, words, stop);
        }

        bool isCommand = parsed.Tokens.Any(static token => token.Value == "--");
        if (!isCommand && words.Length > 1)
        {
            Console.Error.WriteLine($"tidepool: one process at a time, got: {string.Join(' ', words)}. Before a command write --.");
            return ExitRule.BadUsage;
        }

        if (!isCommand && parsed.GetValue(Native) == true)
        {
            Console.Error.WriteLine(
                $"tidepool: --native true starts a command with a library, which a running process cannot load: {words[0]}. "
                    + "Before a command write --.");
            return ExitRule.BadUsage;
        }

        if (isCommand && (parsed.GetValue(Native) ?? NativeProgram.IsNative(words)))
        {
            return await RunNativeAsync(parsed, words, stop);
        }

        using LaunchedProcess? launched = isCommand ? await LaunchedProcess.StartAsync(words, stop) : null;
        TargetProcess target = TargetCatalog.Find(launched?.Id.ToString(CultureInfo.InvariantCulture) ?? words[0]);
        double budget = parsed.GetValue(Budget) / 100 ?? SamplingPlan.DefaultBudget;
        using var observer = new PoolObserver(target, stop);
        var sampler = new Sampler(target, parsed.GetValue(Seconds) ?? SamplingPlan.DefaultSeconds, budget, parsed.GetValue(Lifetimes));
        SamplingResult result = await sampler.RunAsync(
            static (slice, slices) => Console.Error.WriteLine($"sampling: slice {slice} of {slices}"), stop);
        IReadOnlyList<PoolRecord> pools = observer.Close();
        TrafficWindow? traffic = parsed.GetValue(Rentals) ? await ListenAsync(target, stop) : null;
        AdviceReport report = AdviceReport.Of(target, result, budget, new AdviceLimits(), new PoolCosts()) with
        {
            Pools = PoolReport.Of(pools, traffic, new PoolLimits()),
        };
        AdviceText.Print(ConsoleReport.CreateConsole(), report);
        return await WriteAsync(parsed, report);
    }

    private static async Task<int> RunNativeAsync(ParseResult parsed, string[] words, CancellationToken stop)
    {
        Option? useless = parsed.GetValue(Rentals) ? Rentals : parsed.GetValue(Budget) is not null ? Budget : null;
        if (useless is not null)
        {
            Console.Error.WriteLine($"tidepool: {useless.Name} has no use with the native program '{words[0]}'.");
            return ExitRule.BadUsage;
        }

        NativeRecording recording = await NativeSampler.RunAsync(words, parsed.GetValue(Seconds) ?? SamplingPlan.DefaultSeconds, stop);
        AdviceReport report = await NativeReport.OfAsync(Path.GetFileName(words[0]), recording, new AdviceLimits(), stop);
        AdviceText.Print(ConsoleReport.CreateConsole(), report);
        return await WriteAsync(parsed, report);
    }

    /// <summary>Writes the files that were asked for, each although another cannot be written.</summary>
    private static async Task<int> WriteAsync(ParseResult parsed, AdviceReport report)
    {
        (Option<FileInfo?> Option, Func<string> Text)[] files =
        [
            (Json, () => AdviceJson.Write(report)),
            (Html, () => AdvicePage.Write(report)),
            (Sarif, () => SarifReport.Write(report, SourceRoot.Find(Environment.CurrentDirectory), BuildVersion.Text)),
        ];
        int code = ExitRule.Ok;
        foreach (var (option, text) in files)
        {
            if (parsed.GetValue(option) is { } file)
            {
                code = Math.Max(code, await ReportFiles.WriteAsync(file, text()));
            }
        }

        return code;
    }

    private static async Task<int> VerifyAsync(ParseResult parsed, string[] words, CancellationToken stop)
    {
        if (words.Length > 0)
        {
            Console.Error.WriteLine(
                $"tidepool: --verify runs the commands of --before and --after, and no process: {string.Join(' ', words)}");
            return ExitRule.BadUsage;
        }

        VerifyReport? report = await VerifyOptions.RunAsync(parsed, stop);
        if (report is null)
        {
            return ExitRule.Stopped;
        }

        VerifyText.Print(Console.Out, report);
        return parsed.GetValue(Json) is { } file ? await ReportFiles.WriteAsync(file, VerifyJson.Write(report)) : ExitRule.Ok;
    }

    /// <summary>Listens to rentals; what was seen before is worth a report also when the process has ended meanwhile.</summary>
    private static async Task<TrafficWindow?> ListenAsync(TargetProcess target, CancellationToken stop)
    {
        try
        {
            Console.Error.WriteLine("listening to each rental");
            return await TrafficListener.ListenAsync(target, stop);
        }
        catch (TargetException failure)
        {
            Console.Error.WriteLine($"tidepool: rentals were not listened to: {failure.Message}");
            return null;
        }
    }
}
