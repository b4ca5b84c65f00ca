using System.CommandLine;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool completion</c>: the script that teaches a shell the verbs, options and labs.</summary>
internal static class CompletionVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "completion";

    private static readonly Argument<string> Shell = new("shell") { Description = "bash, zsh or fish." };
    private static readonly Option<string?> Clone = new("--clone") { Description = "The verbs of the script ./tidepool.", Hidden = true };

    /// <summary>The shells that have a script.</summary>
    public static string[] Shells { get; } = ["bash", "zsh", "fish"];

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        The script completes tidepool and ./tidepool, and runs nothing while you type.

        Examples:
          source <(tidepool completion bash)     this shell; in ~/.bashrc for every one
          source <(tidepool completion zsh)      after compinit
          tidepool completion fish | source

        Exit codes: 0 ok, 2 wrong usage.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Prints the completion script of a shell.") { Shell, Clone };
        Shell.Validators.Add(static result =>
        {
            if (result.Tokens is [var token] && !Shells.Contains(token.Value))
            {
                result.AddError($"There is no script for '{token.Value}'. There are: {string.Join(", ", Shells)}.");
            }
        });
        verb.SetAction(static parsed => Run(parsed));
        return verb;
    }

    private static int Run(ParseResult parsed)
    {
        CompletedVerb[] verbs = [.. CompletedVerb.Of(parsed.RootCommandResult.Command)];
        if (parsed.GetValue(Clone) is { } all)
        {
            verbs = [.. verbs, .. CompletedVerb.OfClone(all.Split(", "), verbs)];
        }

        Console.Out.Write(CompletionScript.Write(parsed.GetValue(Shell)!, verbs));
        return ExitRule.Ok;
    }
}
