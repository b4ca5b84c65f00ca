using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// What a command and a batch have in common: the connection, whose session is held while something executes, and what is under way. A
/// part of its owner, so that executing allocates nothing.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The reader belongs to the caller that executes.")]
internal struct Execution(PooledDbDataSource source, PooledDbConnection? connection)
{
    private PooledDbTransaction? _transaction;

    /// <summary>Between the beginning of an execution and the end of its reader: only then is there anything to cancel.</summary>
    private PooledDbDataReader? _reader;
    private int _isRunning;

    internal PooledDbConnection? Connection { get; private set; } = connection;

    private readonly bool Prepares => source.Prepares;

    /// <summary>Executes what gives no reader.</summary>
    /// <param name="owner">The command or batch.</param>
    /// <param name="native">The provider's.</param>
    /// <param name="work">What to do with it.</param>
    /// <param name="prepares">The session has prepared statements afterwards.</param>
    internal static TResult Run<TNative, TResult>(
        IExecutable owner, TNative native, Func<TNative, TResult> work, bool prepares = false)
    {
        DbSession? session = owner.Execution.Begin(owner);
        try
        {
            if (prepares)
            {
                session?.HasPrepared = true;
            }

            return work(native);
        }
        catch (Exception e) when (owner.Execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            owner.Execution.End(session);
        }
    }

    /// <summary>Executes asynchronously what gives no reader.</summary>
    internal static async Task<TResult> RunAsync<TNative, TResult>(
        IExecutable owner,
        TNative native,
        Func<TNative, CancellationToken, Task<TResult>> work,
        CancellationToken cancellationToken,
        bool prepares = false)
    {
        DbSession? session = owner.Execution.Begin(owner);
        try
        {
            if (prepares)
            {
                session?.HasPrepared = true;
            }

            return await work(native, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (owner.Execution.Note(session, e))
        {
            throw;
        }
        finally
        {
            owner.Execution.End(session);
        }
    }

    /// <summary>Does nothing behind a pooler that gives each transaction another connection of the server.</summary>
    internal static void Prepare(IExecutable owner)
    {
        if (owner.Execution.Prepares)
        {
            Run(owner, owner, PrepareNative, prepares: true);
        }

        static bool PrepareNative(IExecutable native)
        {
            native.PrepareNative();
            return true;
        }
    }

    /// <summary>Prepares asynchronously.</summary>
    internal static Task PrepareAsync(IExecutable owner, CancellationToken cancellationToken)
    {
        return owner.Execution.Prepares ? RunAsync(owner, owner, PrepareNative, cancellationToken, prepares: true) : Task.CompletedTask;

        static async Task<bool> PrepareNative(IExecutable native, CancellationToken cancellationToken)
        {
            await native.PrepareNativeAsync(cancellationToken).ConfigureAwait(false);
            return true;
        }
    }

    /// <summary>Executes, and gives a reader that counts as one of its connection.</summary>
    internal static DbDataReader Read(IExecutable owner, CommandBehavior behavior)
    {
        DbSession? session = owner.Execution.Begin(owner);
        try
        {
            return owner.Execution.Wrap(owner.ReadNative(behavior & ~CommandBehavior.CloseConnection), session, behavior);
        }
        catch (Exception e) when (owner.Execution.Note(session, e) || owner.Execution.ClosesNow(behavior))
        {
            (DbSession? ended, session) = (session, null);
            try
            {
                owner.Execution.End(ended);
            }
            finally
            {
                owner.Execution.Connection!.Close();
            }

            throw;
        }
        finally
        {
            owner.Execution.End(session);
        }
    }

    /// <summary>Executes asynchronously.</summary>
    internal static async Task<DbDataReader> ReadAsync(IExecutable owner, CommandBehavior behavior, CancellationToken cancellationToken)
    {
        DbSession? session = owner.Execution.Begin(owner);
        try
        {
            DbDataReader native = await owner.ReadNativeAsync(
                behavior & ~CommandBehavior.CloseConnection, cancellationToken).ConfigureAwait(false);
            return owner.Execution.Wrap(native, session, behavior);
        }
        catch (Exception e) when (owner.Execution.Note(session, e) || owner.Execution.ClosesNow(behavior))
        {
            (DbSession? ended, session) = (session, null);
            try
            {
                owner.Execution.End(ended);
            }
            finally
            {
                await owner.Execution.Connection!.CloseAsync().ConfigureAwait(false);
            }

            throw;
        }
        finally
        {
            owner.Execution.End(session);
        }
    }

    /// <summary>Begins an execution: the session is held, and the provider's object is pointed at it.</summary>
    internal DbSession? Begin(IExecutable owner)
    {
        if (Connection is null)
        {
            return null;
        }

        DbSession? session = Connection.Enter();
        try
        {
            Point(owner, session?.Native ?? Connection.ClosedConnection);
            if (session is not null && session.Residue != SessionResidue.Anything)
            {
                session.Leave(owner.FindResidue(source.Adapter));
            }
        }
        catch
        {
            Connection.Exit(session);
            throw;
        }

        Volatile.Write(ref _isRunning, 1);
        return session;
    }

    internal void End(DbSession? session)
    {
        Volatile.Write(ref _isRunning, 0);
        Connection?.Exit(session);
    }

    /// <summary>An error passes. For filters: says no.</summary>
    internal readonly bool Note(DbSession? session, Exception error) => Connection is not null && Connection.Note(session, error);

    /// <summary>Cancels what is under way. Does nothing when nothing is: the session may be another renter's by now.</summary>
    internal readonly void Cancel(IExecutable owner)
    {
        if (_isRunning == 0 && _reader is not { IsClosed: false })
        {
            return;
        }

        DbSession? session = Connection?.Enter();
        try
        {
            if (session is not null && ReferenceEquals(owner.NativeConnection, session.Native))
            {
                owner.CancelNative();
            }
        }
        finally
        {
            Connection?.Exit(session);
        }
    }

    /// <summary>Points the provider's object at what the connection has now: the default of a timeout is the connection's.</summary>
    internal readonly void Point(IExecutable owner)
    {
        if (Connection is not null)
        {
            Point(owner, Connection.Native);
        }
    }

    internal void Connect(IExecutable owner, PooledDbConnection? connection)
    {
        owner.NativeConnection = connection?.Native;
        Connection = connection;
    }

    /// <summary>A connection that may be set.</summary>
    /// <exception cref="InvalidCastException">It is not one of a pool.</exception>
    internal static PooledDbConnection? Check(DbConnection? connection, string what) => connection switch
    {
        null => null,
        PooledDbConnection pooled => pooled,
        _ =>
            throw new InvalidCastException(
                $"A {what} of a pooled connection takes a {typeof(PooledDbConnection)}, not a {connection.GetType()}."),
    };

    internal readonly DbTransaction? TransactionOf(IExecutable owner) =>
        owner.NativeTransaction is not { } native ? null
        : Is(_transaction, native) ? _transaction
        : Is(Connection?.Current, native) ? Connection!.Current
        : null;

    internal void Join(IExecutable owner, DbTransaction? transaction)
    {
        var pooled = transaction as PooledDbTransaction;
        owner.NativeTransaction = pooled?.Native ?? transaction;
        _transaction = pooled;
    }

    private static bool Is(PooledDbTransaction? transaction, DbTransaction native) =>
        transaction is not null && ReferenceEquals(transaction.NativeOrNull, native);

    private static void Point(IExecutable owner, DbConnection target)
    {
        if (!ReferenceEquals(owner.NativeConnection, target))
        {
            owner.NativeConnection = target;
        }
    }

    private readonly bool ClosesNow(CommandBehavior behavior) =>
        (behavior & CommandBehavior.CloseConnection) != 0 && Connection is not null && source.Adapter.ClosesOnFailedRead;

    private DbDataReader Wrap(DbDataReader native, DbSession? session, CommandBehavior behavior)
    {
        if (session is null)
        {
            return native;
        }

        bool closesConnection = (behavior & CommandBehavior.CloseConnection) != 0;
        return _reader = source.Adapter.BuffersRows(behavior)
            ? new PooledDbDataReader(Connection!, session, native, source.Adapter, closesConnection)
            : new PooledDbUnbufferedReader(Connection!, session, native, source.Adapter, closesConnection);
    }
}
