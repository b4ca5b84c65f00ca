using System.CommandLine;
using Tidepool.Advice;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool ps</c>: the processes that the other verbs can attach to.</summary>
internal static class PsVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "ps";

    private static readonly Option<bool> Json = new("--json") { Description = "One JSON array instead of a table." };

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        Lists the .NET processes of this machine that you may attach to: those of your own user that have a diagnostic port.
        A process started with DOTNET_EnableDiagnostics=0 has none.

        Examples:
          tidepool ps
          tidepool ps --json
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Lists the .NET processes that one may attach to.") { Json };
        verb.SetAction(parsed =>
        {
            IReadOnlyList<TargetProcess> processes = TargetCatalog.List();
            if (parsed.GetValue(Json))
            {
                Console.Out.WriteLine(TargetTable.ToJson(processes));
            }
            else
            {
                TargetTable.Print(ConsoleReport.CreateConsole(), processes);
            }

            return ExitRule.Ok;
        });
        return verb;
    }
}
