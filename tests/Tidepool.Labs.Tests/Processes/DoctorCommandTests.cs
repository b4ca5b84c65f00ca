using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public sealed partial class DoctorCommandTests
{
    private static readonly string[][] Listed =
    [
        .. from line in File.ReadAllLines(Path.Combine(Repository.Root, "eng", "programs"))
           where !line.StartsWith('#')
           select line.Split('|', StringSplitOptions.TrimEntries),
    ];

    [Fact]
    public async Task It_shows_each_program_of_the_list_and_the_command_that_installs_what_CI_would_install()
    {
        var (code, output, errors) = await ToolProgram.RunAsync("doctor");

        Assert.Equal((0, ""), (code, errors));
        Assert.Equal(Listed.Length, StateLine().Count(output));
        Assert.All(Listed, program => Assert.Contains($"  {program[3]}\n", output, StringComparison.Ordinal));
        string[] missing = (await RunAsync("bash", Path.Combine(Repository.Root, ".ci", "run"), "--missing"))
            .Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(missing.Distinct().Order(), Packages(output).Order());
        Assert.Contains(missing.Length == 0 ? "Everything is here." : "Everything required is here.", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_the_SDK_it_says_how_to_install_it_with_code_3_and_no_line_is_longer_than_80_columns()
    {
        // Nothing is on this path, so every command is missing.
        var start = new ProcessStartInfo(Environment.ProcessPath!, [ToolProgram.Path, "doctor"]);
        start.Environment["PATH"] = "/nowhere";
        var (code, output) = await RunAsync(start);

        Assert.Equal(3, code);
        Assert.Contains("apt-get install dotnet-sdk-10.0", output, StringComparison.Ordinal);
        string[] commands = [.. from program in Listed where !program[1].StartsWith('/') select program[2]];
        Assert.Equal(commands.Order(), Packages(output).Intersect(commands).Append("dotnet-sdk-10.0").Distinct().Order());
        Assert.All(output.Split('\n'), static line => Assert.True(line.Length <= 80, line));
    }

    /// <summary>What the printed command installs.</summary>
    private static string[] Packages(string output)
    {
        int command = output.IndexOf("missing:\n  apt-get install", StringComparison.Ordinal);
        return command < 0 ? [] : output[command..].Split((char[])[' ', '\n', '\\'], StringSplitOptions.RemoveEmptyEntries)[3..];
    }

    private static Task<(int Code, string Output)> RunAsync(string program, params string[] arguments) =>
        RunAsync(new ProcessStartInfo(program, arguments));

    private static async Task<(int Code, string Output)> RunAsync(ProcessStartInfo start)
    {
        start.RedirectStandardOutput = true;
        using var process = Process.Start(start)!;
        string output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        return (process.ExitCode, output);
    }

    [GeneratedRegex("^  (ok     |missing)  \\S", RegexOptions.Multiline)]
    private static partial Regex StateLine();
}
