using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Tidepool.Labs.Tests.Processes;

/// <summary>What the shells themselves complete, with the scripts of <c>tidepool completion</c>.</summary>
[Trait("Category", "Environment")]
public sealed class CompletionTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool completion ").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    public static TheoryData<string[], string[]> Lines => new()
    {
        { ["do"], ["doctor"] },
        { ["lab", "arr"], ["arrays"] },
        { ["lab", "arrays", "obj"], ["objects"] },
        { ["lab", "--ht"], ["--html"] },
        { ["lab", "--html", "pa"], ["page of results.html"] },
        { ["lab", "--seed", ""], [] },
        { ["compare", "pa"], ["page of results.html"] },
        { ["compare", "--fail"], ["--fail-above"] },
        { ["completion", "z"], ["zsh"] },
        { ["advise", "di"], ["diff"] },
        { ["advise", "--sec"], ["--seconds"] },
        { ["advise", "diff", "pa"], ["page of results.html"] },
        { ["advise", "diff", "--fail"], ["--fail-on"] },
        { ["advise", "diff", "--sec"], [] },
        { ["test", "--"], ["--all"] },
        { ["help", "so"], ["soak"] },
        { ["nonsense", ""], [] },
    };

    [Theory]
    [MemberData(nameof(Lines))]
    public async Task Bash_completes(string[] typed, string[] expected)
    {
        await WriteAsync("bash");
        string[] completed = await RunAsync(
            "bash",
            ["--norc", "-c"],
            """
            source "$0"; [[ $(complete -p tidepool) == *"-F _tidepool tidepool" ]] || exit 9
            COMP_WORDS=(tidepool "$@"); COMP_CWORD=$#; _tidepool; printf '%s\n' "${COMPREPLY[@]}"
            """,
            ["./script", .. typed]);
        Assert.Equal(expected, completed);
    }

    [NeedsShell("fish")]
    [MemberData(nameof(Lines))]
    public async Task Fish_completes(string[] typed, string[] expected)
    {
        await WriteAsync("fish");
        string[] completed = await RunAsync(
            "fish", ["--no-config", "-c"], "source ./script; complete -C \"$argv\"", ["tidepool", .. typed]);
        Assert.Equal(expected, completed.Select(static line => line.Split('\t')[0]));
    }

    /// <summary>Only lines with one answer: the shell writes it into the line, where it can be read.</summary>
    [NeedsShell("zsh")]
    [MemberData(nameof(Lines))]
    public async Task Zsh_completes(string[] typed, string[] expected)
    {
        await WriteAsync("zsh");
        File.WriteAllText(
            Path.Combine(_folder, "setup"),
            """
            unsetopt beep; PS1='> '; autoload -Uz compinit; compinit -u -D; source ./script
            show() { print -r -- "<${(q)BUFFER}>"; }; zle -N show; bindkey '^X' show; bindkey '^I' complete-word
            """);
        string line = string.Join(' ', ["tidepool", .. typed]);
        string[] shown = await RunAsync(
            "zsh",
            ["-f", "-c"],
            """
            zmodload zsh/zpty; zpty shell zsh -f -i
            zpty -w shell 'source ./setup && print "re""ady"'; zpty -r shell out '*ready*'
            zpty -w -n shell "$0"$'\t\x18'; zpty -r shell out '*<*>*'; print -r -- "${${out##*<}%%>*}"
            """,
            [line]);
        string last = expected is [var one] ? $" {one.Replace(" ", "\\ ", StringComparison.Ordinal)}" : $" {typed[^1]}";
        string whole = string.Join(' ', ["tidepool", .. typed[..^1]]) + last;
        Assert.Equal(whole.TrimEnd(), Regex.Replace(Assert.Single(shown), @"\\(.)", "$1").TrimEnd());
    }

    [Fact]
    public async Task Every_verb_and_option_of_the_help_is_completed()
    {
        await WriteAsync("bash");
        string written = File.ReadAllText(Path.Combine(_folder, "script"));
        string verbs = Regex.Match(written, "words='(.*) --help --version'").Groups[1].Value;
        Assert.Equal(Verbs().Split(", ").Order(), verbs.Split(' ').Order());

        var (_, help, _) = await ToolProgram.RunAsync("lab", "--help");
        string[] options =
        [
            .. from Match option in Regex.Matches(help, "^ +(?:-., )*(--[a-z-]+)", RegexOptions.Multiline)
               where option.Groups[1].Value != "--help"
               select option.Groups[1].Value,
        ];
        Assert.True(options.Length > 5);
        Assert.All(options, option => Assert.Contains(option, written, StringComparison.Ordinal));
    }

    /// <summary>The verbs of the script ./tidepool, as it passes them.</summary>
    private static string Verbs() => File.ReadLines(Path.Combine(Repository.Root, "tidepool"))
        .Single(static line => line.StartsWith("verbs='", StringComparison.Ordinal))[7..^1];

    [Fact]
    public async Task Another_shell_is_bad_usage_and_names_those_there_are()
    {
        var (code, _, errors) = await ToolProgram.RunAsync("completion", "tcsh");
        Assert.Equal(2, code);
        Assert.Contains("There is no script for 'tcsh'. There are: bash, zsh, fish.", errors, StringComparison.Ordinal);
    }

    private async Task WriteAsync(string shell)
    {
        var (code, output, errors) = await ToolProgram.RunAsync("completion", shell, "--clone", Verbs());
        Assert.Equal((0, ""), (code, errors));
        File.WriteAllText(Path.Combine(_folder, "script"), output);
        File.WriteAllText(Path.Combine(_folder, "page of results.html"), "");
    }

    private async Task<string[]> RunAsync(string shell, string[] options, string code, string[] arguments)
    {
        var start = new ProcessStartInfo("timeout", ["60", shell, .. options, code, .. arguments])
        {
            WorkingDirectory = _folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        string output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.Equal((0, ""), (process.ExitCode, await errors));
        return output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
    }

    private sealed class NeedsShellAttribute : TheoryAttribute
    {
        public NeedsShellAttribute(string shell) =>
            Skip = PreloadPrograms.IsOnPath(shell) ? null : $"{shell} is missing. Install it with: apt-get install {shell}";
    }
}
