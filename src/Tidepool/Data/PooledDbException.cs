using System.Data.Common;
using System.Net.Sockets;

namespace Tidepool.Data;

/// <summary>
/// The pool had no session to give. The inner exception is the pool's and says why, with numbers; its inner exception is what the server,
/// or the way to it, said last when a session was to be opened.
/// </summary>
public sealed class PooledDbException : DbException
{
    private readonly bool _isTransient;

    internal PooledDbException(ResourcePoolException cause)
        : base(cause.Message, cause)
    {
        PoolError = cause;
        DbException? database = DatabaseError(cause);
        SqlState = database?.SqlState;
        HResult = database?.ErrorCode ?? HResult;
        _isTransient = cause switch
        {
            ResourcePoolShutdownException => false,
            ResourceCreateException =>
                database is null ? cause.InnerException is TimeoutException or IOException or SocketException : database.IsTransient,
            _ => true,
        };
    }

    /// <summary>What the pool said: a timeout, a refusal, a failed creation, the shutdown.</summary>
    public ResourcePoolException PoolError { get; }

    /// <summary>
    /// Whether the same may succeed later without a change: after a timeout or a refusal, or where the provider says so of its own error.
    /// </summary>
    public override bool IsTransient => _isTransient;

    /// <summary>The SQLSTATE with which the server refused a session, or null.</summary>
    public override string? SqlState { get; }

    /// <summary>What the database or the provider said, perhaps to the program that made a new session ready.</summary>
    private static DbException? DatabaseError(ResourcePoolException cause)
    {
        Exception? error = cause.InnerException;
        while (error is not (null or DbException))
        {
            error = error.InnerException;
        }

        return (DbException?)error;
    }
}
