using System.Text.RegularExpressions;

namespace Tidepool.Packages;

/// <summary>The commands of the pages that install something, run as a user runs them.</summary>
[Trait("Category", "Slow")]
public sealed partial class InstallPageTests : IDisposable
{
    private const string FolderOfThePage = "/srv/feed";
    private readonly string _place = Directory.CreateTempSubdirectory("tidepool-homes-").FullName;

    public void Dispose() => Directory.Delete(_place, recursive: true);

    [PackedFact]
    public async Task The_commands_of_docs_install_md_install_the_packages_and_the_tool()
    {
        Feed feed = await Clones.FeedAsync();
        (string project, Dictionary<string, string> variables) = await NewProjectAsync("installed");
        string page = await File.ReadAllTextAsync(Repository.At("docs/install.md"));
        string[] all = CommandsOf(page, feed);
        string[] commands = Array.FindAll(all, static command => !command.Contains("YOUR_PROJECT", StringComparison.Ordinal));
        Assert.Equal(4, commands.Length);

        foreach (string command in commands[..^1])
        {
            await Programs.RunAsync(project, variables, "bash", "-c", command);
        }

        variables["PATH"] = $"{variables["HOME"]}/.dotnet/tools:{Environment.GetEnvironmentVariable("PATH")}";
        string commit = (await Clones.GitAsync(await Clones.FirstAsync(), "rev-parse", "HEAD")).Output.Trim()[..12];
        Ended version = await Programs.RunAsync(project, variables, "bash", "-c", commands[^1]);
        Assert.Equal([$"{feed.Version} (commit {commit})"], version.Lines);
        Ended lab = await Programs.TryAsync(project, variables, "bash", "-c", "tidepool lab native");
        Assert.Equal(3, lab.Code);
        Assert.Contains("a clone of the repository", Assert.Single(lab.Errors.Trim().Split('\n')), StringComparison.Ordinal);
        Assert.Equal(["wrote 17 of 1000 bytes"], await RunFirstSampleAsync(project, variables));
    }

    [PackedFact]
    public async Task The_commands_of_the_README_install_the_core()
    {
        Feed feed = await Clones.FeedAsync();
        (string project, Dictionary<string, string> variables) = await NewProjectAsync("readme");
        string[] commands = CommandsOf(await File.ReadAllTextAsync(Repository.At("README.md")), feed);
        Assert.Equal(2, commands.Length);

        foreach (string command in commands)
        {
            await Programs.RunAsync(project, variables, "bash", "-c", command);
        }

        Assert.Equal(["wrote 17 of 1000 bytes"], await RunFirstSampleAsync(project, variables));
    }

    /// <summary>An empty console program, of a user whose settings name the same feeds as those of this machine.</summary>
    private async Task<(string Project, Dictionary<string, string> Variables)> NewProjectAsync(string name)
    {
        string home = Path.Combine(_place, name); // outside of the repository, which the tool would find
        string own = Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget/NuGet/NuGet.Config");
        string settings = Path.Combine(home, ".nuget/NuGet");
        Directory.CreateDirectory(settings);
        if (File.Exists(own))
        {
            File.Copy(own, Path.Combine(settings, "NuGet.Config"));
        }

        Dictionary<string, string> variables = Clones.Variables;
        variables["HOME"] = variables["DOTNET_CLI_HOME"] = home;
        variables["DOTNET_SKIP_FIRST_TIME_EXPERIENCE"] = "1";
        string project = Path.Combine(home, "Program");
        Directory.CreateDirectory(project);
        await Programs.RunAsync(project, variables, "dotnet", "new", "console");
        return (project, variables);
    }

    private static async Task<string[]> RunFirstSampleAsync(string project, Dictionary<string, string> variables)
    {
        string sample = FirstSample().Match(await File.ReadAllTextAsync(Repository.At("README.md"))).Groups["code"].Value;
        await File.WriteAllTextAsync(Path.Combine(project, "Program.cs"), sample);
        return (await Programs.RunAsync(project, variables, "dotnet", "run")).Lines;
    }

    /// <summary>The commands of a page for the folder of the feed, but the one that makes it: that has run.</summary>
    private static string[] CommandsOf(string page, Feed feed) =>
    [
        .. Block().Matches(page)
            .SelectMany(static block => block.Groups["commands"].Value.Split('\n', StringSplitOptions.RemoveEmptyEntries))
            .Where(static line => line.StartsWith("dotnet nuget ", StringComparison.Ordinal)
                || line.StartsWith("dotnet add ", StringComparison.Ordinal)
                || line.StartsWith("dotnet tool ", StringComparison.Ordinal)
                || line.StartsWith("tidepool ", StringComparison.Ordinal))
            .Select(line => line.Replace(FolderOfThePage, feed.Folder, StringComparison.Ordinal)),
    ];

    [GeneratedRegex("^```\n(?<commands>.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();

    [GeneratedRegex("^```csharp\n(?<code>.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex FirstSample();
}
