using System.ComponentModel;
using System.Diagnostics;

namespace Tidepool.Advice;

/// <summary>Ends processes that may end by themselves meanwhile.</summary>
internal static class ProcessEnd
{
    /// <summary>Kills a process and its children. What cannot be killed, for want of rights, is left alone.</summary>
    /// <param name="process">The process; it may have ended.</param>
    /// <returns>Whether all could be killed, or had ended.</returns>
    public static bool Kill(Process process)
    {
        try
        {
            process.Kill(entireProcessTree: true);
            return true;
        }
        catch (InvalidOperationException)
        {
            return true; // it has ended
        }
        catch (Exception failure) when (failure is Win32Exception or AggregateException)
        {
            return false;
        }
    }
}
