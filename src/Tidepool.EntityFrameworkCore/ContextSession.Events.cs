using System.Data.Common;
using Microsoft.EntityFrameworkCore.Diagnostics;
using Microsoft.EntityFrameworkCore.Storage;

namespace Tidepool.Data;

/// <content>What Entity Framework tells. Other connections of the context (the provider's own, the program's) are let pass.</content>
internal sealed partial class ContextSession : IDbConnectionInterceptor, IDbCommandInterceptor, IDbTransactionInterceptor
{
    public InterceptionResult<DbConnection> ConnectionCreating(
        ConnectionCreatingEventData eventData, InterceptionResult<DbConnection> result) =>
        result.HasResult || eventData.ConnectionId != Relational.ConnectionId
            ? result
            : InterceptionResult<DbConnection>.SuppressWithResult(Close());

    public InterceptionResult ConnectionOpening(DbConnection connection, ConnectionEventData eventData, InterceptionResult result)
    {
        if (!Opens(connection, eventData, result))
        {
            return result;
        }

        BeginUseAsync(isAsync: false, CancellationToken.None).EnsureCompleted();
        return InterceptionResult.Suppress();
    }

    public async ValueTask<InterceptionResult> ConnectionOpeningAsync(
        DbConnection connection, ConnectionEventData eventData, InterceptionResult result, CancellationToken cancellationToken = default)
    {
        if (!Opens(connection, eventData, result))
        {
            return result;
        }

        await BeginUseAsync(isAsync: true, cancellationToken).ConfigureAwait(false);
        return InterceptionResult.Suppress();
    }

    public void ConnectionOpened(DbConnection connection, ConnectionEndEventData eventData)
    {
        if (ReferenceEquals(connection, _closed) && _source.Policy.Initializer is { } initializer)
        {
            initializer.RunAsync(isAsync: false, connection, CancellationToken.None).EnsureCompleted();
        }
    }

    public async Task ConnectionOpenedAsync(
        DbConnection connection, ConnectionEndEventData eventData, CancellationToken cancellationToken = default)
    {
        if (ReferenceEquals(connection, _closed) && _source.Policy.Initializer is { } initializer)
        {
            await initializer.RunAsync(isAsync: true, connection, cancellationToken).ConfigureAwait(false);
        }
    }

    public InterceptionResult ConnectionClosing(DbConnection connection, ConnectionEventData eventData, InterceptionResult result)
    {
        if (!Closes(connection))
        {
            return result;
        }

        EndUse();
        return InterceptionResult.Suppress();
    }

    public async ValueTask<InterceptionResult> ConnectionClosingAsync(
        DbConnection connection, ConnectionEventData eventData, InterceptionResult result)
    {
        if (!Closes(connection))
        {
            return result;
        }

        await EndUseAsync(isAsync: true).ConfigureAwait(false);
        return InterceptionResult.Suppress();
    }

    public void ConnectionFailed(DbConnection connection, ConnectionErrorEventData eventData) => EndOpening(connection, eventData);

    public Task ConnectionFailedAsync(
        DbConnection connection, ConnectionErrorEventData eventData, CancellationToken cancellationToken = default)
    {
        EndOpening(connection, eventData);
        return Task.CompletedTask;
    }

    public void ConnectionCanceled(DbConnection connection, ConnectionEndEventData eventData) => EndOpening(connection, eventData);

    public Task ConnectionCanceledAsync(
        DbConnection connection, ConnectionEndEventData eventData, CancellationToken cancellationToken = default)
    {
        EndOpening(connection, eventData);
        return Task.CompletedTask;
    }

    public InterceptionResult<DbDataReader> ReaderExecuting(
        DbCommand command, CommandEventData eventData, InterceptionResult<DbDataReader> result)
    {
        BeginStatement(command, eventData);
        return result;
    }

    public ValueTask<InterceptionResult<DbDataReader>> ReaderExecutingAsync(
        DbCommand command,
        CommandEventData eventData,
        InterceptionResult<DbDataReader> result,
        CancellationToken cancellationToken = default)
    {
        BeginStatement(command, eventData);
        return new(result);
    }

    public InterceptionResult<object> ScalarExecuting(DbCommand command, CommandEventData eventData, InterceptionResult<object> result)
    {
        BeginStatement(command, eventData);
        return result;
    }

    public ValueTask<InterceptionResult<object>> ScalarExecutingAsync(
        DbCommand command, CommandEventData eventData, InterceptionResult<object> result, CancellationToken cancellationToken = default)
    {
        BeginStatement(command, eventData);
        return new(result);
    }

    public InterceptionResult<int> NonQueryExecuting(DbCommand command, CommandEventData eventData, InterceptionResult<int> result)
    {
        BeginStatement(command, eventData);
        return result;
    }

    public ValueTask<InterceptionResult<int>> NonQueryExecutingAsync(
        DbCommand command, CommandEventData eventData, InterceptionResult<int> result, CancellationToken cancellationToken = default)
    {
        BeginStatement(command, eventData);
        return new(result);
    }

    public object? ScalarExecuted(DbCommand command, CommandExecutedEventData eventData, object? result)
    {
        EndStatement(eventData);
        return result;
    }

    public ValueTask<object?> ScalarExecutedAsync(
        DbCommand command, CommandExecutedEventData eventData, object? result, CancellationToken cancellationToken = default)
    {
        EndStatement(eventData);
        return new(result);
    }

    public int NonQueryExecuted(DbCommand command, CommandExecutedEventData eventData, int result)
    {
        EndStatement(eventData);
        return result;
    }

    public ValueTask<int> NonQueryExecutedAsync(
        DbCommand command, CommandExecutedEventData eventData, int result, CancellationToken cancellationToken = default)
    {
        EndStatement(eventData);
        return new(result);
    }

    public InterceptionResult DataReaderDisposing(DbCommand command, DataReaderDisposingEventData eventData, InterceptionResult result)
    {
        _running.Remove(eventData.CommandId);
        EndIfDead();
        return result;
    }

    public void CommandFailed(DbCommand command, CommandErrorEventData eventData)
    {
        if (!_followsStatements || eventData.Exception is DbException or OperationCanceledException)
        {
            EndStatement(eventData);
        }

        // Other code has failed after the statement, perhaps with a reader that is open: SQLite shows nothing of it on return.
        NoteError(eventData.ConnectionId, eventData.Exception);
    }

    public Task CommandFailedAsync(DbCommand command, CommandErrorEventData eventData, CancellationToken cancellationToken = default)
    {
        CommandFailed(command, eventData);
        return Task.CompletedTask;
    }

    public void CommandCanceled(DbCommand command, CommandEndEventData eventData)
    {
        EndStatement(eventData);
        EndIfDead();
    }

    public Task CommandCanceledAsync(DbCommand command, CommandEndEventData eventData, CancellationToken cancellationToken = default)
    {
        CommandCanceled(command, eventData);
        return Task.CompletedTask;
    }

    public void TransactionFailed(DbTransaction transaction, TransactionErrorEventData eventData) =>
        NoteError(eventData.ConnectionId, eventData.Exception);

    public Task TransactionFailedAsync(
        DbTransaction transaction, TransactionErrorEventData eventData, CancellationToken cancellationToken = default)
    {
        NoteError(eventData.ConnectionId, eventData.Exception);
        return Task.CompletedTask;
    }

    /// <summary>Whether an opening is to be served by the pool.</summary>
    private bool Opens(DbConnection connection, ConnectionEventData eventData, InterceptionResult result)
    {
        if (eventData.ConnectionId != Relational.ConnectionId)
        {
            if (_unpooled > 0)
            {
                AddSecrets(connection);
            }

            return false;
        }

        if (result.IsSuppressed || !(ReferenceEquals(connection, _closed) || ReferenceEquals(connection, _native)))
        {
            return false;
        }

        if (_unpooled == 0)
        {
            return true;
        }

        BeginUnpooled();
        return false;
    }

    private bool Closes(DbConnection connection) => _session is { } session && ReferenceEquals(connection, session.Native);

    /// <summary>An opening has failed after the session was rented: in other code that is called when a connection opens.</summary>
    private void EndOpening(DbConnection connection, ConnectionEndEventData eventData)
    {
        if (ReferenceEquals(connection, _closed))
        {
            _closed.Close(); // opened outside of the pool; else it has nothing to close
        }
        else if (eventData.ConnectionId == Relational.ConnectionId)
        {
            EndUse();
        }
    }

    /// <summary>
    /// The provider opens other databases of the server by the connection string of this one, which does not show its password.
    /// </summary>
    private void AddSecrets(DbConnection connection)
    {
        var known = new DbConnectionStringBuilder { ConnectionString = _source.Text.Unpooled };
        var given = new DbConnectionStringBuilder { ConnectionString = connection.ConnectionString };
        string[] missing = [.. known.Keys.Cast<string>().Where(key => ConnectionText.IsSecret(key) && !given.ContainsKey(key))];
        if (missing.Length > 0)
        {
            foreach (string key in missing)
            {
                given[key] = known[key];
            }

            connection.ConnectionString = given.ConnectionString;
        }
    }

    private void BeginStatement(DbCommand command, CommandEventData eventData)
    {
        if (_session is not { } session || eventData.ConnectionId != Relational.ConnectionId)
        {
            return;
        }

        if (!ReferenceEquals(command.Connection, session.Native))
        {
            command.Connection = session.Native; // Entity Framework makes some commands before it opens the connection
        }

        _running.Add(eventData.CommandId);
        _hasExecuted = true;
        if (_followsStatements)
        {
            session.Leave(_source.Adapter.FindResidue(command.CommandText));
        }

        if (_enlisted is null && Relational is ITransactionEnlistmentManager { EnlistedTransaction: { } transaction })
        {
            _enlisted = transaction.Clone();
        }
    }

    /// <summary>Of a statement that never began, because another interceptor refused it, there is nothing to end.</summary>
    private void EndStatement(CommandEndEventData eventData) => _running.Remove(eventData.CommandId);

    private void NoteError(Guid connectionId, Exception error)
    {
        if (_session is { } session && connectionId == Relational.ConnectionId)
        {
            _source.Policy.Note(session, error);
            EndIfDead();
        }
    }
}
