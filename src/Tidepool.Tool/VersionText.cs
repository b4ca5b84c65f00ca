using System.CommandLine;
using System.CommandLine.Invocation;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary>Prints the version, and the commit where the build knew it.</summary>
internal sealed class VersionText : SynchronousCommandLineAction
{
    /// <inheritdoc/>
    public override int Invoke(ParseResult parseResult)
    {
        parseResult.InvocationConfiguration.Output.WriteLine(BuildVersion.Text);
        return 0;
    }
}
