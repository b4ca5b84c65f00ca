using System.Runtime.InteropServices;
using Tidepool.Advice;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary>What the verbs that attach to a process have in common.</summary>
internal static class Attaching
{
    /// <summary>
    /// Runs a verb with a token that Ctrl+C and SIGTERM cancel, and says why a process could not be looked at. The second of them ends the
    /// tool at once.
    /// </summary>
    /// <param name="run">The verb.</param>
    /// <param name="ended">The token of the command line.</param>
    public static async Task<int> RunAsync(Func<CancellationToken, Task<int>> run, CancellationToken ended)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(ended);
        using var interrupted = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
        using var terminated = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        try
        {
            return await run(stop.Token);
        }
        catch (TargetException failure)
        {
            Console.Error.WriteLine($"tidepool: {failure.Message}");
            return failure.Problem switch
            {
                TargetProblem.WrongTarget => ExitRule.BadUsage,
                TargetProblem.Stopped => ExitRule.Stopped,
                _ => ExitRule.EnvironmentLacks,
            };
        }

        void Stop(PosixSignalContext signal)
        {
            signal.Cancel = !stop.IsCancellationRequested;
            stop.Cancel();
        }
    }
}
