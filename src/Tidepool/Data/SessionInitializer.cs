using System.Data;
using System.Data.Common;

namespace Tidepool.Data;

/// <summary>
/// What a program makes of each new session. Its failures say whose they are, and count as failed creations of any kind but a refused
/// password.
/// </summary>
internal sealed class SessionInitializer(Action<DbConnection> initialize, Func<DbConnection, CancellationToken, Task>? initializeAsync)
{
    private const string Blocking = $"{nameof(PooledDbOptions)}.{nameof(PooledDbOptions.InitializeSession)}";
    private const string Awaiting = $"{nameof(PooledDbOptions)}.{nameof(PooledDbOptions.InitializeSessionAsync)}";

    /// <summary>The one for callers that await, where there is one.</summary>
    private string Name => initializeAsync is null ? Blocking : Awaiting;

    /// <summary>Reads the two options; null where there is nothing to do.</summary>
    internal static SessionInitializer? Of(PooledDbOptions options)
    {
        if (options.InitializeSession is { } initialize)
        {
            return new SessionInitializer(initialize, options.InitializeSessionAsync);
        }

        return options.InitializeSessionAsync is null ? null : throw new ArgumentException(
            $"{nameof(PooledDbOptions.InitializeSessionAsync)} is given without "
                + $"{nameof(PooledDbOptions.InitializeSession)}, which callers that block need.",
            nameof(options));
    }

    /// <summary>Runs the program's code: the asynchronous one for a creation that awaits, where there is one.</summary>
    internal async ValueTask RunAsync(bool isAsync, DbConnection native, CancellationToken cancellationToken)
    {
        Func<DbConnection, CancellationToken, Task>? awaited = isAsync ? initializeAsync : null;
        string name = awaited is null ? Blocking : Awaiting;
        try
        {
            if (awaited is null)
            {
                initialize(native);
            }
            else
            {
                Task? ready = awaited(native, cancellationToken);
                await (ready ?? throw new InvalidOperationException("It returned null instead of a task.")).ConfigureAwait(false);
            }
        }
        catch (Exception e) when (awaited is null || e is not OperationCanceledException || !cancellationToken.IsCancellationRequested)
        {
            throw Failure(name, e);
        }

        if (native.State != ConnectionState.Open)
        {
            throw new InvalidOperationException($"{name} has closed the connection that it was given ({native.State}).");
        }
    }

    /// <summary>The session was not reset after its initialization, with or without an exception.</summary>
    internal InvalidOperationException Unresettable(Exception? failure) => new(
        $"{Name} has left what a reset cannot undo, so that each session would serve one caller only{Because(failure)}", failure);

    /// <summary>The session takes no transaction after its initialization.</summary>
    internal InvalidOperationException Busy(Exception failure) =>
        new($"{Name} has left a transaction or a reader open{Because(failure)}", failure);

    private static InvalidOperationException Failure(string name, Exception failure) =>
        new($"{name} has failed{Because(failure)}", failure);

    private static string Because(Exception? failure) => failure is null ? "." : $": {failure.GetType().Name}: {failure.Message}";
}
