using System.CommandLine;
using Spectre.Console;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool lab</c>: runs experiments and shows what they found.</summary>
internal static class LabVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "lab";

    private static readonly Argument<string[]> Names = new("name")
    {
        Description =
            $"Labs to run; none is the quick tour of all but {string.Join(", ", ByNameOnly)}. "
                + $"There are: {string.Join(", ", LabCatalog.All.Select(lab => lab.Name))}.",
        Arity = ArgumentArity.ZeroOrMore,
    };

    private static readonly Option<bool> Quick = new("--quick") { Description = "A subset of the grid in three processes (the default)." };
    private static readonly Option<bool> Full =
        new("--full") { Description = "The whole grid in seven processes; missed goals count for the exit code." };
    private static readonly Option<bool> Strict =
        new("--strict") { Description = "Missed goals count for the exit code in a quick run too." };
    private static readonly Option<bool> Tables =
        new("--tables") { Description = "Print the tables of the tour too; a run of named labs prints its own always." };
    private static readonly Option<bool> Goals = new("--goals") { Description = "Print what the authors aim at, and whether it is met; "
        + "so do --full and --strict, where that decides the exit code." };
    private static readonly Option<FileInfo?> Html =
        new("--html") { Description = "Write one self-contained page with tables and plots.", HelpName = "FILE" };
    private static readonly Option<FileInfo?> Json = new("--json") { Description = "Write every number.", HelpName = "FILE" };
    private static readonly Option<FileInfo?> Input =
        new("--file") { Description = "An input of yours instead of the one that the lab makes: a PDF for lab pdf.", HelpName = "INPUT" };
    private static readonly Option<bool> ExtraRivals =
        new("--extra-rivals") { Description = "Rows of MemoryStreamSlim and PooledStream too; their packages must restore." };
    private static readonly Option<bool> Postgres = new("--postgres") { Description = "Rows that need a PostgreSQL server too: one "
        + "is started for this run, on the loopback address, and removed with it." };
    private static readonly Option<bool> MySql = new("--mysql") { Description = "Rows that need a MySQL server too: a MariaDB "
        + "is started for this run, on the loopback address, and removed with it." };
    private static readonly Option<string?> Threads = new("--threads") { Description = "Numbers of threads for the labs arrays, memory and "
        + $"objects, 1 to {ThreadCounts.Most}, more than there are cores too; 1 and 2 are always measured.", HelpName = "1,2,4,8" };
    private static readonly Option<bool> DryRun = new("--dry-run") { Description = "Say what would run, and end." };
    private static readonly Option<int> Seed =
        new("--seed") { Description = "Seed of the bootstrap intervals.", HelpName = "N", DefaultValueFactory = _ => 1 };

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        $"""
        Labs:
        {ListLabs()}

        Examples:
          tidepool lab                                 quick tour of all labs: one sentence for each
          tidepool lab --tables                        and every table
          tidepool lab arrays                          one lab
          tidepool lab arrays --full --html out.html   the whole grid, and a page with plots
          tidepool lab memory --json out.json          every number
          tidepool lab objects --threads 1,2,4,8,16    and a plot of how it scales, with --html FILE
          tidepool lab streams --extra-rivals          with rivals whose packages not every feed has
          tidepool lab connections --postgres          the classic experiment, with the server's own list of sessions
          tidepool lab connections --mysql             MariaDB beside its provider's own pool, in faults too
          tidepool lab fleet --postgres                eight processes on one server, behind PgBouncer too
          tidepool lab advise --full                   what advise and watch cost the program that they look at
          tidepool lab kestrel --full                  a server on our memory beside its own, asked by h2load
          tidepool lab resources --postgres            beside a provider's own pool, on a throw-away server
          tidepool lab pdf --file book.pdf             a PDF of yours

        Exit codes: 0 ok, 1 a count is wrong, or a goal is missed with --full or --strict, 2 wrong usage,
        3 the machine lacks something, 130 stopped by Ctrl+C.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(
            Name, "Runs experiments, rivals and ours side by side, and says whether a pool pays on this machine.")
        {
            Names, Quick, Full, Strict, Tables, Goals, Html, Json, Input, Threads, ExtraRivals, Postgres, MySql, Seed, DryRun,
        };
        verb.Validators.Add(result =>
        {
            foreach (string name in result.GetValue(Names) ?? [])
            {
                if (LabCatalog.Find(name) is null)
                {
                    result.AddError(name.StartsWith('-')
                        ? $"There is no option '{name}'."
                        : $"There is no lab '{name}'. There are: {string.Join(", ", LabCatalog.All.Select(lab => lab.Name))}.");
                }
            }

            if (result.GetValue(Quick) && result.GetValue(Full))
            {
                result.AddError("--quick and --full exclude each other.");
            }

            if (result.GetValue(Input) is { Exists: false } missing)
            {
                result.AddError($"The file of --file '{missing}' does not exist.");
            }

            if (result.GetValue(Threads) is { } counts && ThreadCounts.Parse(counts) is null)
            {
                result.AddError($"--threads is '{counts}'; allowed are numbers from 1 to {ThreadCounts.Most} between commas.");
            }

            foreach (var option in (Option<FileInfo?>[])[Html, Json])
            {
                if (result.GetValue(option) is { Directory: not { Exists: true } } file)
                {
                    result.AddError($"The folder of {option.Name} '{file}' does not exist.");
                }
            }
        });
        verb.SetAction(RunAsync);
        return verb;
    }

    /// <summary>What this build or this place lacks for what was asked; or null.</summary>
    private static string? FindLack(ParseResult parsed) =>
        parsed.GetValue(ExtraRivals) && !StreamSubject.HasExtraRivals
            ? "This build lacks the extra rivals: their packages are restored by ./tidepool lab --extra-rivals, or dotnet build "
                + "src/Tidepool.Tool -c Release -p:ExtraRivals=true"
        : parsed.GetValue(Names) is ["native"] && NativeBuild.IsNowhere ? $"tidepool: lab native {NativeBuild.Missing}"
        : null;

    private static async Task<int> RunAsync(ParseResult parsed, CancellationToken ended)
    {
        if (Refuse(parsed) is { } refused)
        {
            return refused;
        }

        var mode = parsed.GetValue(Full) ? LabMode.Full : LabMode.Quick;
        ILab[] labs = LabCatalog.Select(parsed.GetValue(Names) ?? []);
        if (parsed.GetValue(DryRun))
        {
            string names = string.Join(", ", labs.Select(static lab => lab.Name));
            Console.WriteLine($"{(mode == LabMode.Full ? "Full run" : "Quick run")}: {names}");
            return ExitRule.Ok;
        }

        var options = new LabRunOptions { Mode = mode, Seed = parsed.GetValue(Seed) };
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(ended);
        ConsoleCancelEventHandler onCtrlC = (_, pressed) =>
        {
            pressed.Cancel = true;
            stop.Cancel();
        };
        Console.CancelKeyPress += onCtrlC;
        PostgresCluster? server;
        MariaDbServer? mySql = null;
        try
        {
            server = parsed.GetValue(Postgres) ? await LabServer.StartAsync(stop.Token) : null;
            mySql = parsed.GetValue(MySql) ? await MySqlLabServer.StartAsync(stop.Token) : null;
        }
        catch (LabServerException failure)
        {
            await Console.Error.WriteLineAsync(failure.Message);
            return ExitRule.EnvironmentLacks;
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            return ExitRule.Stopped;
        }

        await using var running = server;
        await using var runningToo = mySql;
        var console = ConsoleReport.CreateConsole();
        var report = await ConsoleProgress.RunAsync(console, labs, options, stop.Token);
        Console.CancelKeyPress -= onCtrlC;

        ReportLab[] results = [.. report.Labs.Select(ReportBuilder.Build)];
        ReportTables shows = TablesOf(parsed, mode);
        ConsoleReport.Print(console, report, results, shows);
        ConsoleAnswers.Print(console, report, results);
        ConsoleAnswers.PrintWays(console, shows.HasFlag(ReportTables.Results), results[0].Name);
        WriteFiles(parsed, console, report, results, shows.HasFlag(ReportTables.Goals));
        if (report.Stopped)
        {
            console.WriteLine("Stopped: only what is shown was measured.");
            return ExitRule.Stopped;
        }

        return ExitRule.Of(results.SelectMany(lab => lab.Verdicts), mode, parsed.GetValue(Strict));
    }

    /// <summary>Says why the labs cannot be run as they were asked for, and gives the exit code; null when they can.</summary>
    private static int? Refuse(ParseResult parsed)
    {
        if (FindLack(parsed) is { } lack)
        {
            Console.Error.WriteLine(lack);
            return ExitRule.EnvironmentLacks;
        }

        if (parsed.GetValue(Input) is { } input)
        {
            if (LabInput.Refuse(input.FullName) is { } reason)
            {
                Console.Error.WriteLine($"{input}: {reason}");
                return ExitRule.BadUsage;
            }

            LabInput.Use(input.FullName);
        }

        if (parsed.GetValue(Threads) is { } counts)
        {
            ThreadCounts.Use(counts);
        }

        return null;
    }

    private static ReportTables TablesOf(ParseResult parsed, LabMode mode)
    {
        bool hasNames = parsed.GetValue(Names) is { Length: > 0 };
        bool hasGoals = parsed.GetValue(Goals) || parsed.GetValue(Strict) || mode == LabMode.Full;
        return (hasNames || parsed.GetValue(Tables) ? ReportTables.Results : ReportTables.None)
            | (hasGoals ? ReportTables.Goals : ReportTables.None);
    }

    private static void WriteFiles(
        ParseResult parsed, IAnsiConsole console, LabReport report, IReadOnlyList<ReportLab> results, bool hasGoals)
    {
        if (parsed.GetValue(Json) is { } json)
        {
            File.WriteAllText(json.FullName, ResultJson.Write(report, results));
            console.WriteLine($"Numbers: {json}");
        }

        if (parsed.GetValue(Html) is { } html)
        {
            File.WriteAllText(html.FullName, HtmlReport.Write(report, results, HtmlReport.PackedPlots(), hasGoals));
            console.WriteLine($"Page: {html}");
        }
    }

    private static IEnumerable<string> ByNameOnly => LabCatalog.All.Where(static lab => !lab.InTour).Select(static lab => lab.Name);

    private static string ListLabs()
    {
        int longest = LabCatalog.All.Max(static lab => lab.Name.Length);
        return string.Join('\n', LabCatalog.All.Select(lab => $"  {lab.Name.PadRight(longest)}  {lab.Question}"));
    }
}
