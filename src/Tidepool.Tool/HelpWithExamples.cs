using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;

namespace Tidepool.Tool;

/// <summary>The parser's help, and examples below it: those of the verb, or those of the labs.</summary>
internal sealed class HelpWithExamples(HelpAction help) : SynchronousCommandLineAction
{
    /// <inheritdoc/>
    public override int Invoke(ParseResult parseResult)
    {
        // What a verb takes itself must not stand before a verb of its own.
        foreach (var argument in parseResult.CommandResult.Command.Parents.OfType<Command>().SelectMany(static parent => parent.Arguments))
        {
            argument.Hidden = true;
        }

        int code = help.Invoke(parseResult);
        string examples = parseResult.CommandResult.Command.Name switch
        {
            CompareVerb.Name => CompareVerb.Examples,
            PsVerb.Name => PsVerb.Examples,
            WatchVerb.Name => WatchVerb.Examples,
            AdviseVerb.Name => AdviseVerb.Examples,
            AdviseDiffVerb.Name => AdviseDiffVerb.Examples,
            DoctorVerb.Name => DoctorVerb.Examples,
            CompletionVerb.Name => CompletionVerb.Examples,
            _ => LabVerb.Examples,
        };
        parseResult.InvocationConfiguration.Output.WriteLine(examples);
        return code;
    }
}
