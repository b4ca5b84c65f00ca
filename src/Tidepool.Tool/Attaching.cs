using Tidepool.Advice;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary>What the verbs that attach to a process have in common.</summary>
internal static class Attaching
{
    /// <summary>Runs a verb with a token that Ctrl+C cancels, and says why a process could not be looked at.</summary>
    /// <param name="run">The verb.</param>
    /// <param name="ended">The token of the command line.</param>
    public static async Task<int> RunAsync(Func<CancellationToken, Task<int>> run, CancellationToken ended)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(ended);
        ConsoleCancelEventHandler onCtrlC = (_, pressed) =>
        {
            pressed.Cancel = true;
            stop.Cancel();
        };
        Console.CancelKeyPress += onCtrlC;
        try
        {
            return await run(stop.Token);
        }
        catch (TargetException failure)
        {
            Console.Error.WriteLine($"tidepool: {failure.Message}");
            return failure.Problem == TargetProblem.WrongTarget ? ExitRule.BadUsage : ExitRule.EnvironmentLacks;
        }
        finally
        {
            Console.CancelKeyPress -= onCtrlC;
        }
    }
}
