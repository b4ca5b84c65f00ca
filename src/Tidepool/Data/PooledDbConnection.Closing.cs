using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using System.Transactions;

namespace Tidepool.Data;

/// <content>The session of a connection: how it is taken away and given back, and what the renter left on it.</content>
public sealed partial class PooledDbConnection
{
    private bool HasLeftovers(DbSession session) =>
        (_readers is not null) | (_transaction is not null) | (_commands is not null) | (_columns is not null) | (_enlisted is not null)
            || Volatile.Read(ref _running) != 0 || session.IsBroken;

    /// <summary>Ends what the renter has left on the session.</summary>
    private void EndUse(DbSession session)
    {
        bool isBusy = BeginEnd(session);
        EndColumns(session, isBusy);
        while (_readers is { } reader)
        {
            _readers = reader.Next;
            reader.EndWithSession(isBusy);
        }

        while (_transaction is { } transaction)
        {
            _transaction = transaction.Before;
            if (transaction.IsOpen && !isBusy)
            {
                RollBack(session, transaction.Native);
            }

            transaction.Cut();
        }

        EndCommands();
    }

    private async ValueTask EndUseAsync(DbSession session)
    {
        bool isBusy = BeginEnd(session);
        EndColumns(session, isBusy);
        while (_readers is { } reader)
        {
            _readers = reader.Next;
            await reader.EndWithSessionAsync(isBusy).ConfigureAwait(false);
        }

        while (_transaction is { } transaction)
        {
            _transaction = transaction.Before;
            if (transaction.IsOpen && !isBusy)
            {
                await RollBackAsync(session, transaction.Native).ConfigureAwait(false);
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
    private void RollBack(DbSession session, DbTransaction transaction)
    {
        try
        {
            transaction.Dispose();
        }
        catch (Exception e)
        {
            session.Break();
            Note(session, e);
        }
    }

    [SuppressMessage(
        "Design", "CA1031",
        Justification = "A session whose transaction cannot be rolled back is closed; closing does not throw for it.")]
    private async ValueTask RollBackAsync(DbSession session, DbTransaction transaction)
    {
        try
        {
            await transaction.DisposeAsync().ConfigureAwait(false);
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
        for (PooledDbCommand? command = _commands; command is not null;)
        {
            PooledDbCommand? next = command.NextListed;
            command.EndWithSession();
            command = next;
        }

        _commands = null;
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

    private void Return(ResourceLease<DbSession> lease)
    {
        if (_enlisted is not null)
        {
            ReturnAfterTransaction(lease);
        }
        else
        {
            lease.Dispose();
        }

        Volatile.Write(ref _isClosing, 0);
    }

    private ValueTask ReturnAsync()
    {
        if (TakeSession(out ResourceLease<DbSession> lease) is not { } session)
        {
            return default;
        }

        if (HasLeftovers(session))
        {
            return Finish(session, lease);
        }

        ValueTask returned = lease.DisposeAsync();
        Volatile.Write(ref _isClosing, 0);
        if (!returned.IsCompletedSuccessfully)
        {
            return Wait(returned);
        }

        NotifyClosed();
        return default;

        async ValueTask Finish(DbSession session, ResourceLease<DbSession> lease)
        {
            try
            {
                await EndUseAsync(session).ConfigureAwait(false);
            }
            finally
            {
                if (_enlisted is not null)
                {
                    ReturnAfterTransaction(lease);
                }
                else
                {
                    await lease.DisposeAsync().ConfigureAwait(false);
                }

                Volatile.Write(ref _isClosing, 0);
            }

            NotifyClosed();
        }

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
        }
        else
        {
            OnStateChange(Closed);
        }
    }
}
