namespace Tidepool.Timing;

/// <summary>Lets the compiler finish code before it is timed, in a process that counts calls as soon as the tool does.</summary>
internal static class CodeWarmUp
{
    private const int Passes = 5; // calls count from the second on, and then there are three forms of compiled code

    /// <summary>Longer than it takes after the last new method until calls count: 10 milliseconds, and 100 on one processor.</summary>
    private static readonly TimeSpan Compiling = TimeSpan.FromMilliseconds(150);

    /// <summary>Runs the code until it has its last form.</summary>
    /// <param name="pass">Calls each method at least a hundred times, so that enough are counted in one pass.</param>
    public static void Run(Action pass)
    {
        for (int done = 0; done < Passes; done++)
        {
            pass();
            Thread.Sleep(Compiling);
        }
    }
}
