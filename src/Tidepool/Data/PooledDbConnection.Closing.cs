using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using System.Transactions;

namespace Tidepool.Data;

/// <content>
/// The session of a connection: how it is taken away and given back, and what the renter left on it. The pool decides
/// which caller gets it next: <c>ResourceCore.Return</c>, then <c>PoolState.GiveOrKeep</c>.
/// </content>
public sealed partial class PooledDbConnection
{
    /// <summary>Whether a close has something to end. The count is read first: an operation that ends leaves all before that.</summary>
    private bool HasLeftovers(DbSession session) => Volatile.Read(ref _running) != 0
        || (_readers is not null) | (_transaction is not null) | (_commands.Newest is not null)
            | (_columns is not null) | (_enlisted is not null)
        || session.IsBroken;

    /// <summary>Ends what the renter has left on the session, and gives it back.</summary>
    private async ValueTask FinishUseAsync(bool isAsync, DbSession session, ResourceLease<DbSession> lease)
    {
        try
        {
            await EndUseAsync(isAsync, session).ConfigureAwait(false);
        }
        finally
        {
            if (_enlisted is not null)
            {
                ReturnAfterTransaction(lease);
            }
            else
            {
                await lease.DisposeAsync(isAsync).ConfigureAwait(false);
            }

            Volatile.Write(ref _isClosing, 0);
        }
    }

    private async ValueTask EndUseAsync(bool isAsync, DbSession session)
    {
        bool isBusy = BeginEnd(session);
        EndColumns(session, isBusy);
        while (_readers is { } reader)
        {
            _readers = reader.Next;
            await reader.EndWithSessionAsync(isAsync, isBusy).ConfigureAwait(false);
        }

        while (_transaction is { } transaction)
        {
            _transaction = transaction.Before;
            if (transaction.IsOpen && !isBusy)
            {
                await RollBackAsync(isAsync, session, transaction.Native).ConfigureAwait(false);
            }

            transaction.Cut();
        }

        EndCommands();
    }

    private bool BeginEnd(DbSession session)
    {
        bool isBusy = Volatile.Read(ref _running) != 0;
        if (isBusy)
        {
            session.GiveUp();
        }

        return isBusy || session.Native.State != ConnectionState.Open;
    }

    [SuppressMessage(
        "Design", "CA1031",
        Justification = "A session whose transaction cannot be rolled back is closed; closing does not throw for it.")]
    private async ValueTask RollBackAsync(bool isAsync, DbSession session, DbTransaction transaction)
    {
        try
        {
            await transaction.DisposeAsync(isAsync).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            session.Break();
            Note(session, e);
        }
    }

    [SuppressMessage(
        "Design", "CA1031",
        Justification = "A session whose column cannot be closed is closed itself; closing the connection does not throw for it.")]
    private void EndColumns(DbSession session, bool isBusy)
    {
        if (_columns is not { } columns)
        {
            return;
        }

        _columns = null;
        try
        {
            foreach (IDisposable column in isBusy ? [] : columns)
            {
                column.Dispose();
            }
        }
        catch (Exception e)
        {
            session.Break();
            Note(session, e);
        }
    }

    private void EndCommands()
    {
        while (_commands.Newest is { } command)
        {
            _commands.Remove(command);
            command.EndWithSession();
        }
    }

    /// <summary>Takes the session away from all others; a second caller gets none.</summary>
    /// <param name="lease">Its rental: another opening may overwrite the field while this one is still being closed.</param>
    private DbSession? TakeSession(out ResourceLease<DbSession> lease)
    {
        lease = _lease;
        DbSession? session = Interlocked.Exchange(ref _session, null);
        if (session is not null)
        {
            Volatile.Write(ref _isClosing, 1);
        }

        return session;
    }

    private ValueTask ReturnAsync()
    {
        if (TakeSession(out ResourceLease<DbSession> lease) is not { } session)
        {
            return default;
        }

        ValueTask returned;
        if (HasLeftovers(session))
        {
            returned = FinishUseAsync(isAsync: true, session, lease);
        }
        else
        {
            returned = lease.DisposeAsync();
            Volatile.Write(ref _isClosing, 0);
        }

        if (!returned.IsCompletedSuccessfully)
        {
            return Wait(returned);
        }

        NotifyClosed();
        return default;

        async ValueTask Wait(ValueTask returned)
        {
            await returned.ConfigureAwait(false);
            NotifyClosed();
        }
    }

    /// <summary>The session works for a transaction that is not decided yet: it is returned when it is.</summary>
    private void ReturnAfterTransaction(ResourceLease<DbSession> lease)
    {
        Transaction transaction = _enlisted!;
        _enlisted = null;
        if (transaction.TransactionInformation.Status == TransactionStatus.Active)
        {
            transaction.TransactionCompleted += (_, _) => End();
        }
        else
        {
            End();
        }

        void End()
        {
            lease.Dispose();
            transaction.Dispose();
        }
    }

    private void NotifyClosed()
    {
        if (_hasNotifiedClosed)
        {
            _hasNotifiedClosed = false;
            if (_hasNotifiedBroken)
            {
                _hasNotifiedBroken = false;
                OnStateChange(ClosedBroken);
            }
        }
        else
        {
            OnStateChange(Closed);
        }
    }
}
