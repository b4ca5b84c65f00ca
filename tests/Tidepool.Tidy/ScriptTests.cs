namespace Tidepool.Tidy;

/// <summary>The scripts can be run, are well-formed, and answer wrong usage as documented.</summary>
public sealed class ScriptTests
{
    public static TheoryData<string> Scripts() => [.. Repository.Files.Where(IsScript)];

    [Fact]
    public void The_two_entry_points_are_scripts()
    {
        Assert.Contains("tidepool", Repository.Files.Where(IsScript));
        Assert.Contains(".ci/run", Repository.Files.Where(IsScript));
    }

    [Theory]
    [MemberData(nameof(Scripts))]
    public void Script_is_executable_and_parses(string script)
    {
        Assert.True(OperatingSystem.IsWindows()
            || File.GetUnixFileMode(Repository.Path(script)).HasFlag(UnixFileMode.UserExecute), $"chmod +x {script}");
        (int code, string output) = Programs.Run("bash", "-n", script);
        Assert.True(code == 0, output);
    }

    [NeedsProgram("shellcheck")]
    public void Scripts_pass_shellcheck()
    {
        (int code, string output) = Programs.Run("shellcheck", [.. Repository.Files.Where(IsScript)]);
        Assert.True(code == 0, output);
    }

    [Theory]
    [InlineData(0, "")]
    [InlineData(0, "help")]
    [InlineData(0, "--help")]
    [InlineData(0, "help", "test")]
    [InlineData(0, "test", "--help")]
    [InlineData(0, "bench", "--help")]
    [InlineData(0, "build", "--help")]
    [InlineData(0, "help", "pack")]
    [InlineData(2, "pack", "--everything")]
    [InlineData(2, "pack", "one", "two")]
    [InlineData(2, "tset")]
    [InlineData(2, "help", "tset")]
    [InlineData(2, "test", "--al")]
    [InlineData(2, "build", "everything")]
    public void Command_answers_with_help_or_with_code_2(int expected, params string[] arguments)
    {
        (int code, string output) = Programs.Run(Repository.Path("tidepool"), [.. arguments.Where(a => a.Length > 0)]);
        Assert.Equal(expected, code);
        Assert.Contains(expected == 0 ? "Example" : "See: ./tidepool help", output, StringComparison.Ordinal);
    }

    [Fact]
    public void Streams_and_writers_run_by_thread_number_as_well()
    {
        string script = File.ReadAllText(Repository.Path("tidepool"));
        string body = script.Split("run_suites_by_number() {")[1].Split("\n}\n")[0];
        Assert.Contains("TIDEPOOL_IDENTITY=thread", body, StringComparison.Ordinal);
        string[] suites = ["Tidepool.Tests", "Tidepool.Misuse"];
        Assert.All(suites, suite => Assert.Contains($"run_suite {suite} ", body, StringComparison.Ordinal));
        Assert.Contains("TIDEPOOL_IDENTITY=thread attempt_suite Tidepool.Models ", script, StringComparison.Ordinal);
        Assert.All((string[])["!~Stream", "!~Writer"], left => Assert.DoesNotContain(left, script, StringComparison.Ordinal));
    }

    [Fact]
    public void Without_the_SDK_the_command_says_so_with_code_3()
    {
        // A PATH with the tools that the script itself uses, and no dotnet.
        string folder = Directory.CreateTempSubdirectory("tidepool path ").FullName;
        try
        {
            string[] tools = ["bash", "dirname", "basename", "readlink", "sed", "cat", "find", "head", "touch", "mkdir", "mv"];
            foreach (string tool in tools)
            {
                string[] places =
                    [
                        .. Environment.GetEnvironmentVariable("PATH")!.Split(Path.PathSeparator)
                            .Select(f => Path.Combine(f, tool))
                            .Where(File.Exists),
                    ];
                File.CreateSymbolicLink(Path.Combine(folder, tool), places[0]);
            }
            foreach (string verb in (string[])["build", "doctor"])
            {
                (int code, string output) = Programs.Run("env", $"PATH={folder}", "bash", Repository.Path("tidepool"), verb);
                Assert.Equal(3, code);
                Assert.Contains(".NET 10 SDK is missing", output, StringComparison.Ordinal);
                Assert.Contains("apt-get install dotnet-sdk-10.0", output, StringComparison.Ordinal);
            }
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public void The_command_works_through_a_symlink_from_another_folder()
    {
        string folder = Directory.CreateTempSubdirectory("tidepool link ").FullName;
        try
        {
            File.CreateSymbolicLink(Path.Combine(folder, "tp"), Repository.Path("tidepool"));
            (int code, string output) = Programs.RunIn(folder, Path.Combine(folder, "tp"), "help");
            Assert.Equal(0, code);
            Assert.Contains("rent, use, return", output, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static bool IsScript(string file)
    {
        using StreamReader reader = File.OpenText(Repository.Path(file));
        return reader.ReadLine() is { } first && first.StartsWith("#!", StringComparison.Ordinal)
            && first.EndsWith("bash", StringComparison.Ordinal);
    }
}
