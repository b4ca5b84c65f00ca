using System.Net.Sockets;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>Opens and closes sessions with a process that may end at any moment.</summary>
internal static class Connection
{
    /// <summary>A process that stands still, stopped or in a debugger, accepts a connection and never answers.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>Opens a session.</summary>
    /// <param name="client">The diagnostic port of the process.</param>
    /// <param name="target">The process.</param>
    /// <param name="configuration">What is recorded.</param>
    /// <param name="stop">Ends the wait for an answer, of 30 seconds at most.</param>
    /// <exception cref="TargetException">The process does not answer, or refuses.</exception>
    public static EventPipeSession Open(
        DiagnosticsClient client, TargetProcess target, EventPipeSessionConfiguration configuration, CancellationToken stop)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(stop);
        patience.CancelAfter(Patience);
        try
        {
            return client.StartEventPipeSessionAsync(configuration, patience.Token).GetAwaiter().GetResult();
        }
        catch (UnauthorizedAccessException)
        {
            throw new TargetException(
                TargetProblem.OutOfReach, $"process {target.Id} ({target.Name}) belongs to another user: run tidepool as that user.");
        }
        catch (Exception failure) when (patience.IsCancellationRequested && failure is OperationCanceledException or IOException)
        {
            throw stop.IsCancellationRequested
                ? new TargetException(
                    TargetProblem.Stopped, $"stopped before the window of process {target.Id} ({target.Name}) began.")
                : new TargetException(
                    TargetProblem.OutOfReach,
                    $"process {target.Id} ({target.Name}) did not answer on its diagnostic port within {Patience.TotalSeconds:0} s: it "
                        + "may be stopped, or held by a debugger.");
        }
        catch (Exception failure) when (IsGone(failure))
        {
            throw new TargetException(
                TargetProblem.OutOfReach,
                $"process {target.Id} ({target.Name}) does not answer on its diagnostic port: {failure.Message.TrimEnd('.')}. "
                    + "It may have ended, be stopped, or its socket may be gone.");
        }
    }

    /// <summary>Whether a failure means that the process, or its diagnostic port, is gone.</summary>
    public static bool IsGone(Exception failure) =>
        failure is DiagnosticsClientException or IOException or SocketException or TimeoutException or ObjectDisposedException
            or InvalidOperationException or FormatException or UnauthorizedAccessException;

    /// <summary>Stops a session, and closes it also when the process does not answer in time.</summary>
    public static void Close(EventPipeSession session, int milliseconds)
    {
        Stop(session, milliseconds);
        session.Dispose();
    }

    /// <summary>Asks the process to write what it has left, and to end the session.</summary>
    /// <returns>Whether it has answered in time.</returns>
    public static bool Stop(EventPipeSession session, int milliseconds)
    {
        try
        {
            using var patience = new CancellationTokenSource(milliseconds);
            return session.StopAsync(patience.Token).Wait(milliseconds);
        }
        catch (Exception failure) when (failure is AggregateException || IsGone(failure))
        {
            return false; // it has ended: there is nothing to stop
        }
    }
}
