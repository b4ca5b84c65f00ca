using System.ComponentModel;
using System.Diagnostics;

namespace Tidepool.Advice;

/// <summary>Starts programs, and ends them although they may end by themselves meanwhile.</summary>
internal static class Launcher
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10); // for the memory of a killed process to be given back

    /// <summary>Starts a program.</summary>
    /// <exception cref="TargetException">It does not start.</exception>
    public static Process Start(ProcessStartInfo info)
    {
        if (info.FileName.Length == 0)
        {
            throw new TargetException(TargetProblem.WrongTarget, "the command is empty: give a program, and its arguments after it.");
        }

        try
        {
            return Process.Start(info)!;
        }
        catch (Win32Exception failure)
        {
            string why = new Win32Exception(failure.NativeErrorCode).Message; // without the sentence around it
            throw new TargetException(TargetProblem.WrongTarget, $"'{info.FileName}' does not start: {why}.");
        }
    }

    /// <summary>
    /// Kills a process and its children, and waits for its end. What cannot be killed, for want of rights, is left alone: it may run on.
    /// </summary>
    /// <param name="process">The process; it may have ended.</param>
    /// <returns>Whether it has ended. One that waits for a dead disk or mount ends when the system lets it.</returns>
    public static bool Kill(Process process)
    {
        try
        {
            process.Kill(entireProcessTree: true);
        }
        catch (InvalidOperationException)
        {
            // It has ended.
        }
        catch (Exception failure) when (failure is Win32Exception or AggregateException)
        {
            return false;
        }

        return process.WaitForExit(Patience);
    }
}
