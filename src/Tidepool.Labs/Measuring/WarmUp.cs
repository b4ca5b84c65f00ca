using System.Diagnostics;
using System.Numerics;
using System.Runtime;

namespace Tidepool.Labs;

/// <summary>
/// Runs loops until the compiler has nothing more to do. Loops are called often and shortly, so that they reach
/// their last tier by calls and not by replacement on the stack; the pauses give the background compiler its turn.
/// </summary>
/// <remarks>
/// What one operation of a slow loop calls, it calls many times: after few runs, with pauses in between, such a loop is warm. It runs in
/// passes 1, 2, 4, 8 and 16 only, or the longest rows of a grid would take most of a lab's time before anything is measured.
/// </remarks>
internal sealed class WarmUp
{
    private const int CallsPerPass = 40;
    private const int MostPasses = 30;
    private const int OperationsPerCall = 4;
    private const int LeastPasses = 4;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(150);
    private static readonly TimeSpan LongestShareOfPass = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan Slow = TimeSpan.FromMilliseconds(30);

    private readonly Loop _loop;
    private TimeSpan _shortest = TimeSpan.MaxValue;

    private WarmUp(Loop loop) => _loop = loop;

    /// <summary>Warms all loops; ends when the number of compiled methods stood still over two pauses.</summary>
    /// <param name="loops">The loops.</param>
    /// <param name="progress">Told now and then how far it is, 0 to 1: a guess, because the number of passes is not known.</param>
    public static void Run(IReadOnlyCollection<Loop> loops, Action<double> progress)
    {
        WarmUp[] all = [.. loops.Select(loop => new WarmUp(loop))];
        int still = 0;
        for (int pass = 1; pass <= LeastPasses || (pass <= MostPasses && still < 2); pass++)
        {
            long compiled = JitInfo.GetCompiledMethodCount();
            foreach (var one in all)
            {
                one.RunShortly(pass);
            }

            Thread.Sleep(Pause);
            still = JitInfo.GetCompiledMethodCount() == compiled ? still + 1 : 0;
            if (BitOperations.IsPow2(pass))
            {
                progress(1 - Math.Pow(0.9, pass)); // rarely: telling it in each pass would be compiled again itself, and counted
            }
        }
    }

    private void RunShortly(int pass)
    {
        if (_shortest > Slow && !BitOperations.IsPow2(pass))
        {
            return;
        }

        long start = Stopwatch.GetTimestamp();
        _loop.Run(_loop.Granularity);
        bool isFast = Stopwatch.GetElapsedTime(start) < LongestShareOfPass / (CallsPerPass * OperationsPerCall);
        int operations = _loop.Granularity * (isFast ? OperationsPerCall : 1);
        for (int call = 1; call < CallsPerPass && Stopwatch.GetElapsedTime(start) < LongestShareOfPass; call++)
        {
            _loop.Run(operations);
        }

        TimeSpan took = Stopwatch.GetElapsedTime(start);
        _shortest = took < _shortest ? took : _shortest;
    }
}
