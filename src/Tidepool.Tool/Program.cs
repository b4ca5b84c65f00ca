using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Parsing;
using Tidepool.Labs;

namespace Tidepool.Tool;

internal static class Program
{
    private static async Task<int> Main(string[] arguments)
    {
        if (arguments is [ChildProgram.Argument, var lab, var mode])
        {
            return ChildProgram.Run(lab, mode);
        }

        if (arguments is [FleetMember.Argument])
        {
            return await FleetMember.RunAsync(Console.In, Console.Out);
        }

        if (arguments is [AllocatingProgram.Argument])
        {
            return AllocatingProgram.Run(Console.In, Console.Out);
        }

        if (arguments is [PlantedProgram.Argument, var pair, var variant, var operations])
        {
            return PlantedProgram.Run(pair, variant, operations);
        }

        if (arguments is [ServerProgram.Argument, _, ..])
        {
            return await ServerProgram.RunAsync(arguments[1..]);
        }

        var help = new HelpOption();
        help.Action = new HelpWithExamples((HelpAction)help.Action!);
        var root = new Command("tidepool", "Tidepool: rent, use, return. Shows on your own machine whether a pool pays at all.")
        {
            help,
            new VersionOption { Action = new VersionText() },
            LabVerb.Create(),
            CompareVerb.Create(),
            PsVerb.Create(),
            WatchVerb.Create(),
            AdviseVerb.Create(),
            DoctorVerb.Create(),
            CompletionVerb.Create(),
            DocsVerb.Create(),
        };
        help.Recursive = true;
        var parsed = root.Parse(arguments);
        if (parsed.Errors.Count > 0 && parsed.Action is not HelpWithExamples)
        {
            return ExplainErrors(parsed);
        }

        return await parsed.InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = null });
    }

    private static int ExplainErrors(ParseResult parsed)
    {
        string[] messages = [.. parsed.Errors.Select(error => error.Message).Distinct()];
        foreach (string message in messages)
        {
            Console.Error.WriteLine($"tidepool: {message}");
        }

        var command = parsed.CommandResult.Command;
        Suggest(parsed, messages);
        var options = command.Options.Where(option => !option.Hidden).Select(option => option.Name);
        var verbs = command.Subcommands.Where(verb => !verb.Hidden).Select(verb => verb.Name);
        string path = PathOf(parsed.CommandResult);
        Console.Error.WriteLine(parsed.CommandResult.Parent is null
            ? $"There are the verbs: {string.Join(", ", verbs)}. See: tidepool --help"
            : $"'{path}' has the options: {string.Join(", ", options)}. See: tidepool {path} --help");
        return ExitRule.BadUsage;
    }

    /// <summary>The verbs that lead to a command, without the name of the program.</summary>
    private static string PathOf(CommandResult result) =>
        result.Parent is CommandResult { Parent: not null } parent ? $"{PathOf(parent)} {result.Command.Name}" : result.Command.Name;

    /// <summary>Names what may have been meant by each word that a message quotes.</summary>
    private static void Suggest(ParseResult parsed, string[] messages)
    {
        var command = parsed.CommandResult.Command;
        string[] known =
        [
            .. command.Subcommands.Where(verb => !verb.Hidden).Select(verb => verb.Name),
            .. command.Options.Where(option => !option.Hidden).Select(option => option.Name),
            .. command.Name == LabVerb.Name ? LabCatalog.All.Select(lab => lab.Name) : [],
        ];
        foreach (string word in parsed.Tokens.Select(token => token.Value).Except(known))
        {
            bool isQuoted = messages.Any(message => message.Contains($"'{word}'", StringComparison.Ordinal));
            if (isQuoted && Spelling.FindNearest(word, known) is { } nearest)
            {
                Console.Error.WriteLine($"Did you mean '{nearest}'?");
            }
        }
    }
}
