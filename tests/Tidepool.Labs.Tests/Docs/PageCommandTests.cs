using System.Text.RegularExpressions;
using Tidepool.Labs.Tests.Comparing;
using Tidepool.Labs.Tests.Processes;

namespace Tidepool.Labs.Tests.Docs;

/// <summary>
/// Every command of README, CONTRIBUTING and the pages: those of <c>./tidepool</c> are run, labs with <c>--dry-run</c>; of the others the
/// list says who runs them, and the files that they name exist.
/// </summary>
[Trait("Category", "Environment")]
public sealed partial class PageCommandTests : IDisposable
{
    /// <summary>The reason why commands that begin so are not run here.</summary>
    private static readonly Dictionary<string, string> Reviewed = new()
    {
        ["LD_PRELOAD="] = "native/tests/run starts programs under the preload library",
        ["TIDEPOOL_ACCEPT_API=1 dotnet test"] = "it would write into the repository; PublicApiTests run without it",
        ["apt-get install"] = "it would change the machine; ProgramListTests compares the packages with eng/programs",
        ["artifacts/native/"] = "lab native runs these programs",
        ["c++ "] = "native/tests/run compiles a program against the installed library",
        ["cmake "] = "native/tests/run configures, builds and installs the library",
        ["dotnet add"] = "it needs a project of the reader's; the project that it names is checked here",
        ["dotnet build"] = "every project is built before this test",
        ["dotnet format"] = "it would change the reader's code",
        ["dotnet nuget"] = "it would change the machine's package sources",
        ["dotnet run --project src/Tidepool.Tool -c Release -- docs"] = "GeneratedDocsTests make the same tables",
        ["dotnet src/Tidepool.Tool/bin/Release/net10.0/Tidepool.Tool.dll docs"] = "GeneratedDocsTests make the same tables",
        ["dotnet test"] = "it is how this test was started",
        ["dotnet tool install"] = "it would change the machine's tools",
        ["dotnet-counters"] = "a tool of .NET, which is not part of this repository; MeterTests collect the same meter",
        ["dotnet pack"] = "it writes into artifacts; the same project is built before this test",
        ["echo 'run bulk"] = "DriverTests talk to the same driver",
        ["eng/build-native"] = "native/tests/run builds with it",
        ["git diff"] = "it shows what a reviewer reads",
        ["source <(./tidepool completion"] = "CompletionTests load the script in the shells",
        ["tidepool --version"] = "CommandLineTests run it",
        ["tidepool-run"] = "native/tests/run starts programs with it",
    };

    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool pages ").FullName;

    public PageCommandTests()
    {
        Directory.CreateDirectory(Path.Combine(_folder, "inner", "docs", "results", "linux-x64-2core-amd-epyc"));
        foreach (string result in (string[])["before", "after", "main", "branch", "../main", "../branch"])
        {
            File.WriteAllText(Path.Combine(Work, result + ".json"), MadeUpResult.Json(1.0).ToJsonString());
        }

        File.WriteAllBytes(Path.Combine(Work, "book.pdf"), PdfMaker.Make());
    }

    private string Work => Path.Combine(_folder, "inner");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Every_command_of_tidepool_runs()
    {
        string[] commands = [.. Commands().Select(static c => c.Text).Where(IsOurs).Distinct()];
        Assert.True(commands.Length > 30, $"{commands.Length} commands");
        List<string> problems = [];
        await Parallel.ForEachAsync(commands, new ParallelOptions { MaxDegreeOfParallelism = 2 }, async (command, _) =>
        {
            string? problem = await TryAsync(command);
            if (problem is not null)
            {
                lock (problems)
                {
                    problems.Add($"{command}: {problem}");
                }
            }
        });
        Assert.Empty(problems);
    }

    [Fact]
    public void Every_other_command_has_been_reviewed_and_names_files_that_exist()
    {
        (string Page, string Text)[] commands = [.. Commands().Where(static command => !IsOurs(command.Text))];
        Assert.True(commands.Length > 10, $"{commands.Length} commands");
        Assert.Empty(
            from command in commands
            where !Reviewed.Keys.Any(begin => command.Text.StartsWith(begin, StringComparison.Ordinal))
            select $"{command.Page}: {command.Text}");
        Assert.Empty(
            from command in commands
            from Match path in SourcePath().Matches(command.Text)
            let full = Path.Combine(Repository.Root, path.Value)
            where !path.Value.Contains("/bin/", StringComparison.Ordinal) && !File.Exists(full) && !Directory.Exists(full)
            select $"{command.Page}: {command.Text}: there is no {path.Value}");
    }

    private static bool IsOurs(string command) => command.StartsWith("./tidepool ", StringComparison.Ordinal);

    /// <summary>Runs a command of ours in a folder that has the files it names.</summary>
    /// <returns>What is wrong, or null.</returns>
    private async Task<string?> TryAsync(string command)
    {
        string[] words = command.Split('>')[0].Split(' ', StringSplitOptions.RemoveEmptyEntries)[1..];
        switch (words[0])
        {
            case "lab":
                return await RunAsync([.. words.Where(static word => word != "--extra-rivals"), "--dry-run"]);
            case "compare" or "completion" or "doctor" or "--version":
                return await RunAsync(words);
        }

        // The verb itself takes long, or changes something: its help must know what the page tells.
        string[] help = words[0] == "help" ? words : ["help", words[0]];
        var (code, text) = await ShellAsync(help);
        IEnumerable<string> options = words.TakeWhile(static word => word != "--").Where(IsOption); // behind it is another command
        return code != 0 ? text : options.FirstOrDefault(word => !text.Contains(word, StringComparison.Ordinal));
    }

    private static bool IsOption(string word) => word.StartsWith("--", StringComparison.Ordinal);

    private async Task<string?> RunAsync(string[] arguments)
    {
        var (code, output, errors) = await ToolProgram.RunInAsync(Work, arguments);
        return code == 0 ? null : $"code {code}: {errors}{output}";
    }

    /// <summary>The script's own help; that of a verb of the tool comes from the tool, so that nothing is built here.</summary>
    private async Task<(int Code, string Text)> ShellAsync(string[] words)
    {
        string script = File.ReadAllText(Path.Combine(Repository.Root, "tidepool"));
        if (words is ["help", var verb] && !script.Contains($"help_{verb}()", StringComparison.Ordinal))
        {
            var (code, output, errors) = await ToolProgram.RunInAsync(Work, verb, "--help");
            return (code, output + errors);
        }

        var said = await ToolProgram.RunProgramAsync(Work, "bash", [Path.Combine(Repository.Root, "tidepool"), .. words]);
        return (said.Code, said.Output + said.Errors);
    }

    /// <summary>The lines of shell code, without comments.</summary>
    private static IEnumerable<(string Page, string Text)> Commands() =>
        from page in Pages()
        from Match block in Block().Matches(File.ReadAllText(page))
        let lines = block.Groups["code"].Value.Replace("\\\n", " ", StringComparison.Ordinal).Split('\n')
        where block.Groups["language"].Value is "sh" or "bash" || IsShell(lines[0])
        from line in lines
        let text = Spaces().Replace(Comment().Replace(line, ""), " ").Trim()
        where text.Length > 0
        select (Path.GetRelativePath(Repository.Root, page), text);

    private static IEnumerable<string> Pages() =>
        ((string[])["README.md", "CONTRIBUTING.md", "native/README.md"]).Select(static page => Path.Combine(Repository.Root, page))
            .Concat(Directory.EnumerateFiles(Path.Combine(Repository.Root, "docs"), "*.md", SearchOption.AllDirectories));

    /// <summary>Whether a block without a language is shell code: by the first word of its first line.</summary>
    private static bool IsShell(string line) => FirstWord().IsMatch(line);

    [GeneratedRegex("^```(?<language>[a-z]*)\\n(?<code>.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();

    [GeneratedRegex(@"^(\./|eng/|artifacts/|[A-Z_]+=\S+ |(dotnet|tidepool|git|apt-get|cmake|echo|source|curl|docker|npm|sudo)[ -])")]
    private static partial Regex FirstWord();

    [GeneratedRegex(@"(^|\s)#\s.*$")]
    private static partial Regex Comment();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Spaces();

    [GeneratedRegex(@"(?<=^|[ ]|PATH_TO_TIDEPOOL/)(src|tests|docs|eng|bench|native)/[A-Za-z0-9_./-]+")]
    private static partial Regex SourcePath();
}
