using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;

namespace Tidepool.Tool;

/// <summary>The parser's help, and examples below it.</summary>
internal sealed class HelpWithExamples(HelpAction help) : SynchronousCommandLineAction
{
    /// <inheritdoc/>
    public override int Invoke(ParseResult parseResult)
    {
        int code = help.Invoke(parseResult);
        parseResult.InvocationConfiguration.Output.WriteLine(LabVerb.Examples);
        return code;
    }
}
