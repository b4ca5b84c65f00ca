using System.Diagnostics;
using System.Runtime;

namespace Tidepool.Labs;

/// <summary>
/// Runs loops until the compiler has nothing more to do. Loops are called often and shortly, so that they reach
/// their last tier by calls and not by replacement on the stack; the pauses give the background compiler its turn.
/// </summary>
internal static class WarmUp
{
    private const int CallsPerPass = 40;
    private const int MostPasses = 30;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(150);
    private static readonly TimeSpan LongestShareOfPass = TimeSpan.FromMilliseconds(2);

    /// <summary>Warms all loops; ends when the number of compiled methods stood still over two pauses.</summary>
    /// <param name="loops">The loops.</param>
    /// <param name="progress">Told after each pass how far it is, 0 to 1: a guess, because nobody knows the number of passes.</param>
    public static void Run(IReadOnlyCollection<Loop> loops, Action<double> progress)
    {
        int still = 0;
        for (int pass = 0; pass < MostPasses && still < 2; pass++)
        {
            long compiled = JitInfo.GetCompiledMethodCount();
            foreach (var loop in loops)
            {
                RunShortly(loop);
            }

            Thread.Sleep(Pause);
            still = JitInfo.GetCompiledMethodCount() == compiled ? still + 1 : 0;
            progress(1 - Math.Pow(0.9, pass + 1));
        }
    }

    private static void RunShortly(Loop loop)
    {
        long start = Stopwatch.GetTimestamp();
        for (int call = 0; call < CallsPerPass && Stopwatch.GetElapsedTime(start) < LongestShareOfPass; call++)
        {
            loop.Run(loop.Granularity * 4);
        }
    }
}
